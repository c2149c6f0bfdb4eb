import { resolve } from "node:path";
import type { Command } from "commander";
import type { Session } from "../session.ts";

interface DemoOptions {
  readonly dir: string;
  readonly serve: boolean;
  readonly pace: string;
}

export function demoCommand(program: Command, session: Session): void {
  program
    .command("demo")
    .description("an agent is killed, resumed, asked and forked; then look at it in the browser")
    .option("--dir <directory>", "where the demo keeps its store", "threadmark-demo")
    .option("--no-serve", "end when the story is told")
    .option("--pace <milliseconds>", "how long a call of the scripted model takes", "250")
    .action(async ({ dir, pace }: DemoOptions) => {
      const { tellStory } = await import("../../demo/story.ts");
      const { terminal } = session;
      await tellStory({
        directory: resolve(dir),
        pace: Number(pace),
        say: (line, kind) => terminal.line(kind === "scene" ? terminal.style("bold", line) : line),
      });
    });
}
