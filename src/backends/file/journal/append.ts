import type { FileSystem } from "../disk/file-system.ts";
import { backendFault } from "../faults.ts";
import { hex } from "../format/line.ts";
import { directoryLineage } from "../format/operation.ts";
import type { Admission } from "../writing/admit-batches.ts";
import type { JournalEntry, Prepared } from "./encode-batch.ts";
import type { JournalFile } from "./journal.ts";

/** The part of a commit that goes to one journal. */
interface Share {
  readonly journal: JournalFile;
  readonly joint: boolean;
  entries: readonly JournalEntry[];
  prepared?: Prepared;
}

/**
 * Writes the lines of admitted batches, and updates the indexes in memory once the lines are where they should be.
 *
 * The lines of one journal are one batch, whole or absent by its checksums. A batch that changes several journals is
 * confirmed by the directory: first each lineage's journal gets its lines, marked as joint, and is synced; then the
 * directory gets its own lines and one confirming line for each of those journals, all in one batch, and is synced. A
 * crash before the directory's batch is whole leaves joint batches that do not count, and the next write to those
 * journals cuts them away; a crash after it leaves all. A later batch behind a joint one confirms it too, since nothing
 * is written behind a batch that does not count. Joint batches are synced under `fsync: "normal"` as well, since they
 * depend on the order in which two files reach the medium.
 */
export async function append(
  fileSystem: FileSystem,
  directory: string,
  { entries, joint }: Admission,
  held: ReadonlyMap<number, JournalFile>,
  durable: boolean,
): Promise<void> {
  const shares: Share[] = [];
  for (const [lineage, written] of entries) {
    if (lineage === directoryLineage) continue;
    shares.push({ journal: held.get(lineage) as JournalFile, joint: joint.has(lineage), entries: written });
  }
  const index = held.get(directoryLineage);
  const names = entries.get(directoryLineage) ?? [];
  const isDecided = names.length > 0 || joint.size > 0;
  const decision: Share | undefined = isDecided
    ? { journal: index as JournalFile, joint: false, entries: names }
    : undefined;
  const mustSync = durable || joint.size > 0;
  try {
    const depends = shares.some(({ journal }) => journal.dependsOnDirectory);
    if (index !== undefined && (depends || index.isUnfinished)) await settleDirectory(fileSystem, directory, index);
    await write(fileSystem, directory, shares, decision, mustSync);
  } catch (error) {
    throw backendFault(`writing to ${directory}`, error, await undo(shares, decision));
  }
  const written = decision === undefined ? shares : [...shares, decision];
  for (const { journal, prepared } of written) if (prepared !== undefined) journal.accept(prepared, mustSync);
}

/** Makes the directory's last batch durable, or cuts it away, before a journal may build on it. */
export async function settleDirectory(fileSystem: FileSystem, directory: string, journal: JournalFile): Promise<void> {
  await journal.ready(true);
  await nameAll(fileSystem, directory, [journal]);
}

async function write(
  fileSystem: FileSystem,
  directory: string,
  shares: readonly Share[],
  decision: Share | undefined,
  mustSync: boolean,
): Promise<void> {
  await decision?.journal.ready(mustSync);
  await settleAll(shares.map(({ journal }) => journal.ready(mustSync)));
  await settleAll(shares.map((share) => writeShare(share, mustSync)));
  const journals = shares.map(({ journal }) => journal);
  if (mustSync)
    await nameAll(fileSystem, directory, decision === undefined ? journals : [...journals, decision.journal]);
  if (decision === undefined) return;
  decision.entries = [...decision.entries, ...commitsOf(shares)];
  await writeShare(decision, mustSync);
}

async function writeShare(share: Share, mustSync: boolean): Promise<void> {
  const { journal, joint, entries } = share;
  share.prepared = journal.prepare(entries, joint);
  await journal.append(share.prepared);
  if (mustSync) await journal.sync();
}

/** Syncs the directory if it holds new journals: a new file survives a power cut only then. */
async function nameAll(fileSystem: FileSystem, directory: string, journals: readonly JournalFile[]): Promise<void> {
  if (journals.every(({ isNamed }) => isNamed)) return;
  await fileSystem.syncDirectory(directory);
  for (const journal of journals) journal.isNamed = true;
}

function commitsOf(shares: readonly Share[]): JournalEntry[] {
  return shares.flatMap(({ journal, joint, prepared }): JournalEntry[] => {
    const last = prepared?.lines.at(-1);
    if (!joint || last === undefined) return [];
    return [[{ is: "commits", lineage: journal.lineage, batch: last.batch, mark: hex(last.crc) }, undefined]];
  });
}

/** Cuts away the lines of a failed commit. Returns false if it is certain that none of them will ever be read. */
async function undo(shares: readonly Share[], decision: Share | undefined): Promise<false | "unknown"> {
  // As long as the directory's batch may survive, the joint batches may count: they stay until the next write cuts all
  // away.
  if (decision !== undefined && !(await isUndone(decision))) return "unknown";
  let committed: false | "unknown" = false;
  for (const share of shares) if (!(await isUndone(share)) && !share.joint) committed = "unknown";
  return committed;
}

async function isUndone({ journal, prepared }: Share): Promise<boolean> {
  if (prepared === undefined) return true;
  try {
    await journal.rollback();
    return true;
  } catch {
    // The error to report is the one that made this necessary.
    return false;
  }
}

/** Waits for all promises, then fails with the first error, so that nothing is under way afterwards. */
async function settleAll(promises: readonly Promise<void>[]): Promise<void> {
  for (const result of await Promise.allSettled(promises)) if (result.status === "rejected") throw result.reason;
}
