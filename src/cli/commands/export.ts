import { createWriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type Command, Option } from "commander";
import { declare } from "../declare.ts";
import { existingThread } from "../lookup.ts";
import { Progress } from "../progress.ts";
import { bytesText, countText } from "../quantities.ts";
import type { Session } from "../session.ts";

export function exportCommand(program: Command, session: Session): void {
  declare<{ readonly output?: string }>(program, session, {
    name: "export",
    summary: "write threads as a bundle of lines that any store can import",
    operands: [["[threads...]", "which (default: all); a url may come last"]],
    options: [new Option("-o, --output <file>", "where to (default: the standard output)")],
    examples: ["threadmark export sqlite:agent.db > agent.bundle", "threadmark export user-42 --output user-42.bundle"],
    json: false,
    async run({ url, operands: threads, options: { output } }) {
      const { terminal, signal } = session;
      await session.withStore(url, async (store) => {
        for (const id of threads) await existingThread(store, id);
        const progress = new Progress(terminal, "exporting, checkpoints:");
        let bytes = 0;
        let checkpoints = 0;
        const lines = store.export(threads.length === 0 ? {} : { threads });
        const counted = Readable.from(
          (async function* (): AsyncGenerator<string> {
            for await (const line of lines) {
              bytes += Buffer.byteLength(line);
              if (line.includes('"kind":"checkpoint"')) checkpoints += 1;
              progress.update(checkpoints);
              yield line;
            }
          })(),
        );
        if (output === undefined) await pipeline(counted, terminal.streams.stdout, { signal, end: false });
        else await writeWhole(output, counted, signal);
        progress.end();
        if (output !== undefined) terminal.note(`Wrote ${countText(checkpoints, "checkpoint")}, ${bytesText(bytes)}.`);
      });
    },
  });
}

/** A file that is there is whole: it gets its name when the last line is written. */
async function writeWhole(file: string, lines: Readable, signal: AbortSignal): Promise<void> {
  const unfinished = `${file}.${process.pid}.part`;
  try {
    await pipeline(lines, createWriteStream(unfinished, { flush: true }), { signal });
    await rename(unfinished, file);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
}
