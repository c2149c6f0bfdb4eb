import { resolve } from "node:path";
import { type Command, Option } from "commander";
import type { Store } from "../../api/store.ts";
import { declare, portOption, wholeNumber } from "../input/declare.ts";
import { serveUntilInterrupted } from "../serving.ts";
import type { Session } from "../session.ts";

interface Options {
  readonly dir: string;
  readonly serve: boolean;
  readonly pace: number;
  readonly port: number;
}

export function demoCommand(program: Command, session: Session): void {
  declare<Options>(program, session, {
    name: "demo",
    summary: "an agent is killed, resumed, asked and forked; then look at it in the browser",
    options: [
      new Option("--dir <directory>", "where the demo keeps its store").default("threadmark-demo"),
      new Option("--no-serve", "end when the story is told"),
      new Option("--pace <milliseconds>", "how long a call of the scripted model takes")
        .argParser(wholeNumber(0))
        .default(250),
      portOption("--port <port>"),
    ],
    examples: ["threadmark demo", "threadmark demo --no-serve --dir /tmp/demo"],
    store: false,
    json: false,
    async run({ options: { dir, serve, pace, port } }) {
      const { terminal, signal } = session;
      const { tellStory } = await import("../../demo/story.ts");
      const { url, calls, threads } = await tellStory({
        directory: resolve(dir),
        pace,
        signal,
        say: (line, kind) => terminal.line(kind === "scene" ? terminal.style("bold", line) : line),
      });
      terminal.line();
      terminal.line(`Look at it:  npx threadmark history ${threads[0]} ${url}`);
      if (!serve) return;
      const { runAnswered } = await import("../../demo/runner.ts");
      await session.withStore(url, async (store) => {
        const running = runAnswered(store as Store, calls, pace, signal);
        await serveUntilInterrupted(session, store, { url, port });
        await running;
      });
    },
  });
}
