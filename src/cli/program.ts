import { Command, CommanderError } from "commander";
import { demoCommand } from "./commands/demo.ts";
import { exitCodes, failureOf } from "./failure.ts";
import { Session } from "./session.ts";
import { type Streams, Terminal } from "./terminal.ts";

/** Runs one command and says how it ended. Nothing is thrown, and the process goes on. */
export async function runCommandLine(
  parameters: readonly string[],
  streams: Streams,
  signal: AbortSignal = new AbortController().signal,
): Promise<number> {
  const terminal = new Terminal(streams);
  const session = new Session(terminal, parameters.includes("--json"), signal);
  const program = new Command("threadmark")
    .description("Look at, change and look after a store of checkpoints.")
    .configureOutput({
      writeOut: (text) => streams.stdout.write(text),
      writeErr: (text) => streams.stderr.write(text),
      getOutHasColors: () => false,
    })
    .exitOverride();
  demoCommand(program, session);
  try {
    await program.parseAsync([...parameters], { from: "user" });
    return exitCodes.done;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
    const failure = failureOf(error);
    terminal.note(`threadmark: ${failure.message}`);
    return failure.exitCode;
  }
}
