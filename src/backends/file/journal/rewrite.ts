import type { Value } from "../../../backend.ts";
import type { FileSystem, OpenFile } from "../disk/file-system.ts";
import { unfinishedPath } from "../format/file-names.ts";
import type { Prior } from "../format/line.ts";
import { noPrior } from "../format/line.ts";
import { encodeLine } from "../format/line-writer.ts";
import type { Operation } from "../format/operation.ts";
import { formatVersion } from "../format/operation.ts";
import { fetchAll } from "../reading/fetch-values.ts";
import type { JournalFile } from "./journal.ts";
import type { Slot } from "./record-index.ts";

const chunkBytes = 1 << 20;

/**
 * Rewrites a journal with its live records only and replaces the old file. The journal must then be loaded again.
 * `keeps` tells for which lineages the directory must go on confirming joint batches.
 */
export async function rewrite(
  fileSystem: FileSystem,
  directory: string,
  journal: JournalFile,
  keeps: (lineage: number) => boolean,
): Promise<void> {
  const path = unfinishedPath(journal.path);
  await fileSystem.remove(path);
  // The new journal keeps the old one's permissions.
  const { permissions } = (await fileSystem.stat(journal.path)) ?? {};
  const file = await fileSystem.open(path, "create", permissions);
  try {
    try {
      await fill(file, journal, keeps);
      // The bytes must be on the medium before the name is, or a power cut could leave an empty journal.
      await file.sync();
    } finally {
      await file.close();
    }
    // Atomic: a reader opens either the old journal or the new one, and both are whole.
    await fileSystem.rename(path, journal.path);
  } catch (error) {
    // A leftover is removed by the next attempt.
    await fileSystem.remove(path).catch(() => undefined);
    throw error;
  }
  // Until this returns, a power cut may bring back the old journal with its deleted records.
  await fileSystem.syncDirectory(directory);
}

/**
 * Writes the live records, each as a batch of its own. Batch numbers continue those of the old journal, so that none is
 * used twice. The last line is a seal: no record is in the last batch, where damage would count as a crash.
 */
async function fill(file: OpenFile, journal: JournalFile, keeps: (lineage: number) => boolean): Promise<void> {
  const output = new Output(file, journal.end.batch);
  await output.add({ is: "format", format: formatVersion, lineage: journal.lineage }, undefined);
  let chunk: (readonly [Operation, Slot])[] = [];
  let bytes = 0;
  const flush = async (): Promise<void> => {
    const values = await fetchAll(chunk.map(([, slot]) => ({ journal, slot })));
    for (const [operation, slot] of chunk) await output.add(operation, values.get(slot));
    chunk = [];
    bytes = 0;
  };
  for (const entry of journal.index.records()) {
    chunk.push(entry);
    bytes += entry[1].length;
    if (bytes > chunkBytes) await flush();
  }
  await flush();
  for (const operation of journal.index.withoutValues()) await output.add(operation, undefined);
  for (const commits of journal.index.commits()) if (keeps(commits.lineage)) await output.add(commits, undefined);
  await output.add({ is: "seal" }, undefined);
  await output.flush();
}

class Output {
  readonly #file: OpenFile;
  #batch: number;
  #offset = 0;
  #written = 0;
  #prior: Prior = noPrior;
  #waiting: Buffer[] = [];

  constructor(file: OpenFile, lastBatch: number) {
    this.#file = file;
    this.#batch = lastBatch;
  }

  async add(operation: Operation, value: Value | undefined): Promise<void> {
    this.#batch++;
    const batchFields = { batch: this.#batch, record: 1, of: 1, start: this.#offset, synced: undefined, joint: false };
    const line = encodeLine(this.#offset, batchFields, operation, value, this.#prior);
    const crc = Number.parseInt(line.toString("latin1", line.length - 11, line.length - 3), 16);
    this.#prior = { operation, length: line.length, crc };
    this.#offset += line.length;
    this.#waiting.push(line);
    if (this.#offset - this.#written > chunkBytes) await this.flush();
  }

  async flush(): Promise<void> {
    const bytes = Buffer.concat(this.#waiting);
    this.#waiting = [];
    await this.#file.write(this.#written, bytes);
    this.#written += bytes.length;
  }
}
