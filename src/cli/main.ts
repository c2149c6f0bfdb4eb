#!/usr/bin/env node
import { exitCodes, failureOf, unwritable } from "./failure.ts";
import { pageThrough } from "./output/pager.ts";
import { printableLines } from "./output/printable.ts";
import { runCommandLine } from "./program.ts";

// On older versions of Node, node:sqlite warns that it is experimental, which does not concern the user.
process.removeAllListeners("warning");
process.on("warning", (warning) => {
  if (warning.name !== "ExperimentalWarning") process.stderr.write(`${warning.name}: ${warning.message}\n`);
});
// `threadmark threads | head` closes the pipe early, which is no failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(exitCodes.done);
  const { message } = failureOf(unwritable("The output", error, "The part already written is incomplete."));
  process.stderr.write(`threadmark: ${printableLines(message)}\n`);
  process.exit(exitCodes.failed);
});

const interrupt = new AbortController();
process.once("SIGINT", () => interrupt.abort());
process.once("SIGTERM", () => interrupt.abort());
const { stdin, stdout, stderr, env } = process;
const streams = { stdin, stdout, stderr, env, page: (text: string) => pageThrough(env, text) };
process.exitCode = await runCommandLine(process.argv.slice(2), streams, interrupt.signal);
