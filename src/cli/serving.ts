import { once } from "node:events";
import type { Store } from "../api/store.ts";
import type { Renderer } from "../display/values/renderers.ts";
import { openInBrowser } from "./output/browser.ts";
import type { Session, State } from "./session.ts";

export interface Serving {
  readonly url: string;
  readonly readOnly?: boolean;
  readonly port: number;
  readonly app?: string;
  readonly renderers?: readonly Renderer[];
  /** True to open the page in the person's browser. */
  readonly open?: boolean;
}

/** Serves the inspector, prints its address, and returns on Ctrl-C. */
export async function serveUntilInterrupted(
  session: Session,
  store: Store<State>,
  { open, ...serving }: Serving,
): Promise<void> {
  const { terminal, signal, json } = session;
  const { serveInspector } = await import("../inspector/http/server.ts");
  const inspector = await serveInspector({
    store,
    ...serving,
    complain: (error) => terminal.note(error instanceof Error ? (error.stack ?? error.message) : String(error)),
  });
  try {
    if (json) terminal.json({ address: inspector.address, port: inspector.port, token: inspector.token });
    else {
      terminal.line(`Inspector:   ${terminal.style(["bold", "underline"], inspector.address)}`);
      if (terminal.interactive) terminal.line(terminal.style("dim", "Ctrl-C ends it."));
    }
    if (open && !(await openInBrowser(inspector.address, terminal.streams.env))) {
      terminal.note("No browser could be opened. Open the address above yourself.");
    }
    if (!signal.aborted) await once(signal, "abort");
  } finally {
    await inspector.close();
  }
}
