import { open, rename, rm, stat } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type Command, Option } from "commander";
import type { Store } from "../../../api/store.ts";
import { unwritable } from "../../failure.ts";
import { declare } from "../../input/declare.ts";
import { existingThread } from "../../input/lookup.ts";
import { ProgressLine } from "../../output/progress.ts";
import { bytesText, countText } from "../../output/quantities.ts";
import type { Session, State } from "../../session.ts";

export function exportCommand(program: Command, session: Session): void {
  declare<{ readonly output?: string; readonly encrypted?: boolean }>(program, session, {
    name: "export",
    summary: "write threads as a bundle of lines that any store can import",
    operands: [["[threads...]", "which (default: all); a url may come last"]],
    options: [
      new Option("-o, --output <file>", "where to (default: the standard output)"),
      new Option("--encrypted", "encrypt the bundle with the keys of the store"),
    ],
    examples: ["threadmark export sqlite:agent.db > agent.bundle", "threadmark export user-42 --output user-42.bundle"],
    json: false,
    async run({ url, operands: threads, options: { output, encrypted = false } }) {
      const { terminal, signal } = session;
      await session.withStore(url, async (store) => {
        for (const id of threads) await existingThread(store, id);
        let bytes = 0;
        let checkpoints = 0;
        await ProgressLine.during(session, "exporting, checkpoints:", async (update) => {
          const total = await countOf(store, threads);
          const lines = store.export({ encrypted, ...(threads.length > 0 && { threads }) });
          async function* counted(): AsyncGenerator<string> {
            for await (const line of lines) {
              bytes += Buffer.byteLength(line);
              if (line.includes('"kind":"checkpoint"')) checkpoints += 1;
              update(checkpoints, total);
              yield line;
            }
          }
          const source = Readable.from(counted());
          if (output === undefined) await pipeline(source, terminal.streams.stdout, { signal, end: false });
          else await writeWhole(output, source, signal);
        });
        if (output !== undefined) terminal.note(`Wrote ${countText(checkpoints, "checkpoint")}, ${bytesText(bytes)}.`);
      });
    },
  });
}

/** Returns how many checkpoints there are to export; undefined where that would take long. */
async function countOf(store: Store<State>, threads: readonly string[]): Promise<number | undefined> {
  if (threads.length === 0) return (await store.stats()).checkpoints ?? undefined;
  let count = 0;
  for (const id of threads) {
    for (const namespace of await store.thread(id).namespaces()) count += await store.thread(id, { namespace }).count();
  }
  return count;
}

/**
 * Writes a file atomically: it gets its name after the last line. A pipe or a device keeps its name. A new file is
 * readable by its owner only; a replaced file keeps its permissions.
 */
async function writeWhole(file: string, lines: Readable, signal: AbortSignal): Promise<void> {
  const there = await stat(file).catch(() => undefined);
  const isReplaced = there === undefined || there.isFile();
  const path = isReplaced ? `${file}.${process.pid}.part` : file;
  try {
    const handle = await open(path, isReplaced ? "wx" : "w", 0o600);
    try {
      if (isReplaced && there !== undefined) await handle.chmod(there.mode & 0o777);
      await pipeline(lines, handle.createWriteStream({ flush: isReplaced }), { signal });
    } catch (error) {
      await handle.close().catch(() => undefined);
      if (isReplaced) await rm(path, { force: true });
      throw error;
    }
    if (isReplaced) await rename(path, file);
  } catch (error) {
    const standing = there === undefined ? "Nothing is left of it." : "What was there is as it was.";
    throw unwritable(file, error, isReplaced ? standing : "The part already written is incomplete.");
  }
}
