import { readFileSync } from "node:fs";
import { Command, CommanderError } from "commander";
import { answerCommand } from "./commands/change/answer.ts";
import { copyCommand } from "./commands/change/copy.ts";
import { deleteCommand } from "./commands/change/delete.ts";
import { eraseCommand } from "./commands/change/erase.ts";
import { forkCommand } from "./commands/change/fork.ts";
import { leaseCommand } from "./commands/change/lease.ts";
import { migrateCommand } from "./commands/change/migrate.ts";
import { pruneCommand } from "./commands/change/prune.ts";
import { setCommand } from "./commands/change/set.ts";
import { completeCommand } from "./commands/complete.ts";
import { completionCommand } from "./commands/completion.ts";
import { demoCommand } from "./commands/demo.ts";
import { diffCommand } from "./commands/look/diff.ts";
import { historyCommand } from "./commands/look/history.ts";
import { inboxCommand } from "./commands/look/inbox.ts";
import { searchCommand } from "./commands/look/search.ts";
import { showCommand } from "./commands/look/show.ts";
import { tailCommand } from "./commands/look/tail.ts";
import { threadsCommand } from "./commands/look/threads.ts";
import { rotateCommand } from "./commands/rotate.ts";
import { sweepCommand } from "./commands/sweep.ts";
import { backupCommand, restoreCommand } from "./commands/transfer/backup.ts";
import { exportCommand } from "./commands/transfer/export.ts";
import { importCommand } from "./commands/transfer/import.ts";
import { importLangGraphCommand } from "./commands/transfer/import-langgraph.ts";
import { uiCommand } from "./commands/ui.ts";
import { compactCommand, reindexCommand, statsCommand, verifyCommand } from "./commands/upkeep.ts";
import { type CommandFailure, exitCodes, failureOf } from "./failure.ts";
import { type Streams, Terminal } from "./output/terminal.ts";
import { Session } from "./session.ts";

/** In the order of the help text: look, change, keep, move, the rest. */
const commands: readonly ((program: Command, session: Session) => void)[] = [
  threadsCommand,
  historyCommand,
  showCommand,
  diffCommand,
  searchCommand,
  inboxCommand,
  answerCommand,
  tailCommand,
  forkCommand,
  setCommand,
  copyCommand,
  pruneCommand,
  deleteCommand,
  eraseCommand,
  leaseCommand,
  migrateCommand,
  backupCommand,
  restoreCommand,
  exportCommand,
  importCommand,
  importLangGraphCommand,
  statsCommand,
  verifyCommand,
  reindexCommand,
  sweepCommand,
  compactCommand,
  rotateCommand,
  uiCommand,
  demoCommand,
  completionCommand,
  completeCommand,
];

/** Runs a command and returns its exit code. Never throws, and never ends the process. */
export async function runCommandLine(
  parameters: readonly string[],
  streams: Streams,
  signal: AbortSignal = new AbortController().signal,
): Promise<number> {
  const terminal = new Terminal(streams);
  const session = new Session(terminal, optionsOf(parameters).includes("--json"), signal);
  try {
    await commandLine(session).parseAsync([...parameters], { from: "user" });
    return exitCodes.done;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
    if (signal.aborted) return exitCodes.interrupted;
    const failure = failureOf(error);
    complain(session, failure);
    return failure.exitCode;
  }
}

/** Returns the parameters before `--`. All after it are operands, whatever they look like: a thread may have any id. */
function optionsOf(parameters: readonly string[]): readonly string[] {
  const end = parameters.indexOf("--");
  return end < 0 ? parameters : parameters.slice(0, end);
}

function commandLine(session: Session): Command {
  const { streams } = session.terminal;
  const program = new Command("threadmark")
    .description("Look at, change and look after a store of checkpoints.")
    .usage("<command> [options] [url]")
    .version(version(), "-V, --version", "print the version")
    .helpCommand(false)
    .helpOption("-h, --help", "print help")
    .configureOutput({
      writeOut: (text) => void streams.stdout.write(text),
      writeErr: (text) => void streams.stderr.write(text),
      outputError: (text) => complain(session, { code: "USAGE", message: text.trim().replace(/^error: /, "") }),
      getOutHelpWidth: () => Math.min(session.terminal.columns, 100),
      getErrHelpWidth: () => Math.min(session.terminal.columns, 100),
    })
    .exitOverride();
  program.addHelpText(
    "after",
    "\nThe store is named by --url, by a url as the last operand, by $THREADMARK_URL, or is sqlite:threadmark.db.\n" +
      "Help on a command: threadmark <command> --help. All of it: docs/reference/cli.md.",
  );
  for (const command of commands) command(program, session);
  return program;
}

function complain({ terminal, json }: Session, { code, message }: Pick<CommandFailure, "code" | "message">): void {
  if (json) terminal.note(JSON.stringify({ error: { code, message } }));
  else terminal.complain(message);
}

function version(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  return (manifest as { version: string }).version;
}
