import type { FileSystem } from "../disk/file-system.ts";
import { movedLines } from "../faults.ts";
import type { Change } from "../format/change.ts";
import { directoryLineage } from "../format/change.ts";
import { isUnfinishedJournal, journalPath, lineageOf } from "../format/layout.ts";
import type { Line } from "../format/line.ts";
import { hex } from "../format/line.ts";
import { survey } from "../journal/damage-survey.ts";
import { beginning } from "../journal/position.ts";
import { RecordIndex } from "../journal/record-index.ts";

/** Computes the checksum of every line of every journal. `mayBeWriting`: another process may be in the middle of a batch. */
export async function verifyJournals(
  fileSystem: FileSystem,
  directory: string,
  mayBeWriting: boolean,
): Promise<readonly string[]> {
  const names = (await fileSystem.list(directory)) ?? [];
  const lineages = names.map(lineageOf).filter((lineage) => lineage !== undefined);
  const faults: string[] = [];
  const index = new RecordIndex(journalPath(directory, directoryLineage), directoryLineage);
  // The directory comes first: it says which joint batches count.
  for (const lineage of lineages.sort((a, b) => a - b)) {
    const path = journalPath(directory, lineage);
    faults.push(...(await verifyJournal(fileSystem, path, lineage, index, mayBeWriting)));
  }
  for (const name of mayBeWriting ? [] : names.filter(isUnfinishedJournal)) {
    faults.push(`${name}: a crash came while this journal was written anew; compact() removes it.`);
  }
  return faults;
}

async function verifyJournal(
  fileSystem: FileSystem,
  path: string,
  lineage: number,
  directoryIndex: RecordIndex,
  mayBeWriting: boolean,
): Promise<string[]> {
  const state = await fileSystem.stat(path);
  if (state === undefined) return [];
  if (state.kind !== "file") return [`${path} is not a file, and links are not followed: nothing in it is read.`];
  const file = await fileSystem.open(path, "read");
  const faults: string[] = [];
  const index = lineage === directoryLineage ? directoryIndex : new RecordIndex(path, lineage);
  const note = (line: number, fault: string): unknown => faults.push(`${path}, line ${line}: ${fault}`);
  try {
    const { size } = await file.stat();
    const { position, undecided, moved } = await survey(file, size, beginning, 0, {
      record: (line: Line): void => index.record(line),
      damaged: (change: Change, line): void => {
        note(line.number, `the line is damaged; it said ${describe(change)}.`);
        index.damaged(change, line);
      },
      lost: (line): void => {
        note(line.number, "the journal is damaged here, and what it said cannot be told.");
        index.lost(line);
      },
      moved: (line): void => {
        faults.push(movedLines(path, line.number).message);
        index.moved(line);
      },
    });
    if (moved !== undefined) return faults;
    const last = undecided?.lines.at(-1);
    const counts = last !== undefined && directoryIndex.hasCommitted(lineage, last.batch, last.crc);
    const end = counts ? undecided?.after.offset : position.offset;
    if (size > (end ?? 0) && !mayBeWriting) {
      note(
        position.lines + 1,
        `the last batch was cut short by a crash; it is not read, and the next write removes it.`,
      );
    }
  } catch (error) {
    const { code, message } = error as { readonly code?: unknown; readonly message: string };
    // Some damage stops the check itself: that is what was asked for, not a failure to answer.
    if (code !== "CORRUPT" && code !== "VERSION") throw error;
    faults.push(message);
  } finally {
    await file.close();
  }
  return faults;
}

function describe(change: Change): string {
  switch (change.is) {
    case "put":
      return `what ${change.table} ${change.group}:${change.item} holds`;
    case "delete":
      return `that ${change.table} ${change.group}:${change.from} to ${change.to} was deleted`;
    case "name":
      return `where thread ${JSON.stringify(change.id)} is`;
    case "unname":
      return `that thread ${JSON.stringify(change.id)} was deleted`;
    case "commits":
      return `that batch ${change.batch} of lineage ${hex(change.lineage)} counts`;
    case "format":
      return "which format the journal has";
    case "seal":
      return "that the journal was compacted";
  }
}
