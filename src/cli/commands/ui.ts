import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { type Command, Option } from "commander";
import { checkRenderers, type Renderer } from "../../display/values/renderers.ts";
import { usage } from "../failure.ts";
import { declare, portOption } from "../input/declare.ts";
import { serveUntilInterrupted } from "../serving.ts";
import type { Session } from "../session.ts";

interface UiOptions {
  readonly port: number;
  readonly readOnly?: boolean;
  readonly open?: boolean;
  readonly app?: string;
  readonly renderers?: string;
}

/** Imports the renderers of a module. */
async function renderersOf(file: string): Promise<readonly Renderer[]> {
  const module = (await import(pathToFileURL(resolve(file)).href)) as { readonly default?: unknown };
  return checkRenderers(module.default);
}

export function uiCommand(program: Command, session: Session): void {
  declare<UiOptions>(program, session, {
    name: "ui",
    summary: "serve the inspector to this machine's browser, until Ctrl-C",
    options: [
      portOption("-p, --port <port>"),
      new Option("-o, --open", "open the page in the browser"),
      new Option("--app <file>", "run threads on from the page, with the workflows that this module exports"),
      new Option("--renderers <file>", "show values as the renderers say that this module exports as a list"),
      new Option("--read-only", "only look: without fork, answer, label, prune, delete and export"),
    ],
    examples: [
      "threadmark ui --open sqlite:agent.db",
      "threadmark ui --app flow.ts sqlite:agent.db",
      "threadmark ui --read-only --port 8080 postgres://localhost/agents",
    ],
    store: "new",
    async run({ url, options: { port, readOnly = false, open = false, app, renderers: file } }) {
      if (app !== undefined && readOnly) throw usage("--app changes threads: leave --read-only out.");
      const renderers = file === undefined ? [] : await renderersOf(file);
      const serving = { url, port, readOnly, open, renderers, ...(app !== undefined && { app }) };
      await session.withStore(url, (store) => serveUntilInterrupted(session, store, serving), readOnly);
    },
  });
}
