import type { FileSystem } from "../disk/file-system.ts";
import { movedLines } from "../faults.ts";
import { isUnfinishedJournal, journalPath, lineageOfName } from "../format/file-names.ts";
import type { Line } from "../format/line.ts";
import { hex } from "../format/line.ts";
import type { Operation } from "../format/operation.ts";
import { directoryLineage } from "../format/operation.ts";
import { beginning } from "../journal/batch-boundary.ts";
import { surveyDamage } from "../journal/damage-survey.ts";
import { RecordIndex } from "../journal/record-index.ts";

/**
 * Computes the checksum of every line of every journal. `mayBeWriting`: another process may be in the middle of a
 * batch.
 */
export async function verifyJournals(
  fileSystem: FileSystem,
  directory: string,
  mayBeWriting: boolean,
): Promise<readonly string[]> {
  const names = (await fileSystem.list(directory)) ?? [];
  const lineages = names.map(lineageOfName).filter((lineage) => lineage !== undefined);
  const faults: string[] = [];
  const index = new RecordIndex(journalPath(directory, directoryLineage), directoryLineage);
  // The directory comes first: it confirms joint batches.
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
    const { end, undecided, moved } = await surveyDamage(file, size, beginning, 0, {
      record: (line: Line): void => index.record(line),
      damaged: (operation: Operation, line): void => {
        note(line.number, `the line is damaged; it said ${describe(operation)}.`);
        index.damaged(operation, line);
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
    const endOffset = (counts ? undecided?.after : end)?.offset ?? 0;
    if (size > endOffset && !mayBeWriting) {
      note(end.lines + 1, `the last batch was cut short by a crash; it is not read, and the next write removes it.`);
    }
  } catch (error) {
    const { code, message } = error as { readonly code?: unknown; readonly message: string };
    // Damage that stops the check is a finding, not a failure of the check.
    if (code !== "CORRUPT" && code !== "VERSION") throw error;
    faults.push(message);
  } finally {
    await file.close();
  }
  return faults;
}

function describe(operation: Operation): string {
  switch (operation.is) {
    case "put":
      return `what ${operation.table} ${operation.group}:${operation.item} holds`;
    case "delete":
      return `that ${operation.table} ${operation.group}:${operation.from} to ${operation.to} was deleted`;
    case "name":
      return `where thread ${JSON.stringify(operation.id)} is`;
    case "unname":
      return `that thread ${JSON.stringify(operation.id)} was deleted`;
    case "entry":
      return `that tape ${operation.tape} is found under ${JSON.stringify(operation.text)}`;
    case "unentry":
      return `that tape ${operation.tape} is no longer found under ${JSON.stringify(operation.text)}`;
    case "log":
      return `line ${operation.position} of the log`;
    case "commits":
      return `that batch ${operation.batch} of lineage ${hex(operation.lineage)} counts`;
    case "format":
      return "which format the journal has";
    case "seal":
      return "that the journal was compacted";
  }
}
