import type { FileSystem } from "../disk/file-system.ts";
import { backendFault } from "../faults.ts";
import { hex } from "../format/line.ts";
import { directoryLineage } from "../format/operation.ts";
import type { Admission } from "../writing/admit-batches.ts";
import type { Journal, JournalEntry, Prepared } from "./journal.ts";

/** What one journal gets of a commit. */
interface Share {
  readonly journal: Journal;
  readonly joint: boolean;
  entries: readonly JournalEntry[];
  prepared?: Prepared;
}

/**
 * Writes what was judged, and takes it into memory once it is where it should be.
 *
 * The lines of one journal are one batch, whole or absent by its checksums. A batch that changes several journals is made
 * whole by the directory's: first each lineage's journal gets its lines, marked as joint, and is synced; then the directory
 * gets its own lines and one line for each of those journals that says the joint batch counts, all in one batch, and is
 * synced. A crash before the directory's batch is whole leaves joint batches that do not count, and the next write to those
 * journals cuts them away; a crash after it leaves all. That a later batch follows a joint one proves it too, since nothing
 * is written behind a batch that does not count. Joint batches are synced under `fsync: "normal"` as well, since they
 * depend on the order in which two files reach the medium.
 */
export async function append(
  fileSystem: FileSystem,
  directory: string,
  { entries, joint }: Admission,
  held: ReadonlyMap<number, Journal>,
  durable: boolean,
): Promise<void> {
  const shares: Share[] = [];
  for (const [lineage, written] of entries) {
    if (lineage === directoryLineage) continue;
    shares.push({ journal: held.get(lineage) as Journal, joint: joint.has(lineage), entries: written });
  }
  const index = held.get(directoryLineage);
  const names = entries.get(directoryLineage) ?? [];
  const isDecided = names.length > 0 || joint.size > 0;
  const decision: Share | undefined = isDecided
    ? { journal: index as Journal, joint: false, entries: names }
    : undefined;
  const mustSync = durable || joint.size > 0;
  try {
    const leans = shares.some(({ journal }) => journal.leansOnDirectory);
    if (index !== undefined && (leans || index.isUnfinished)) await settleDirectory(fileSystem, directory, index);
    await write(fileSystem, directory, shares, decision, mustSync);
  } catch (error) {
    throw backendFault(`writing to ${directory}`, error, await undo(shares, decision));
  }
  const written = decision === undefined ? shares : [...shares, decision];
  for (const { journal, prepared } of written) if (prepared !== undefined) journal.accept(prepared, mustSync);
}

/** What the directory says must be on the medium, or off it, before anything is built on that. */
export async function settleDirectory(fileSystem: FileSystem, directory: string, journal: Journal): Promise<void> {
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

/** A new file is there after a power cut only if the directory that names it was synced. */
async function nameAll(fileSystem: FileSystem, directory: string, journals: readonly Journal[]): Promise<void> {
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

/** Cuts away what was written in vain; says whether it is certain that none of it will ever be read. */
async function undo(shares: readonly Share[], decision: Share | undefined): Promise<false | "unknown"> {
  // While the directory's batch may stand, the joint ones may count: they stay until the next write cuts all away.
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
    // Not the fault to report: that is the one that made this necessary.
    return false;
  }
}

/** Waits for all, then fails with the first that failed: nothing is under way any more when this returns. */
async function settleAll(promises: readonly Promise<void>[]): Promise<void> {
  for (const result of await Promise.allSettled(promises)) if (result.status === "rejected") throw result.reason;
}
