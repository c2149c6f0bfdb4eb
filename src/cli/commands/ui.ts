import { type Command, Option } from "commander";
import { declare, portOption } from "../input/declare.ts";
import { serveUntilInterrupted } from "../serving.ts";
import type { Session } from "../session.ts";

export function uiCommand(program: Command, session: Session): void {
  declare<{ readonly port: number; readonly readOnly?: boolean }>(program, session, {
    name: "ui",
    summary: "serve the inspector to this machine's browser, until Ctrl-C",
    options: [
      portOption("-p, --port <port>"),
      new Option("--read-only", "only look: without fork, answer, label, prune, delete and export"),
    ],
    examples: ["threadmark ui sqlite:agent.db", "threadmark ui --read-only --port 8080 postgres://localhost/agents"],
    store: "new",
    async run({ url, options: { port, readOnly = false } }) {
      await session.withStore(url, (store) => serveUntilInterrupted(session, store, { url, port, readOnly }), readOnly);
    },
  });
}
