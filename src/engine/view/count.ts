import type { EngineContext } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import type { Row } from "../records/row.ts";
import { ownRowAtHand } from "./lineage/at-hand.ts";
import { sourceOf } from "./lineage/levels.ts";
import { inheritedNamespaces, ownNamespaces } from "./lineage/namespaces.ts";
import { readPacksUpTo } from "./lineage/own-rows.ts";
import { isPlain } from "./row-at.ts";
import { shownRows } from "./shown-rows.ts";

/** Returns how many checkpoints a thread shows: of one namespace, or of all. */
export async function countOf(context: EngineContext, tape: Tape, namespace: string | undefined): Promise<number> {
  const known = await withoutWalking(context, tape, namespace);
  if (known !== undefined) return known;
  let count = 0;
  for await (const _ of shownRows(context, tape, namespace === undefined ? {} : { namespace })) count += 1;
  return count;
}

/**
 * Counts without walking, where that is possible: own rows are counted as they are committed, and inherited rows are as
 * many as the line up to the fork is long.
 */
async function withoutWalking(
  context: EngineContext,
  tape: Tape,
  namespace: string | undefined,
): Promise<number | undefined> {
  const { origin, removed } = tape.meta;
  if (namespace !== undefined && !(namespace === "" && isRootAlone(await ownNamespaces(context, tape))))
    return undefined;
  const own = tape.count - removed;
  if (!origin) return own;
  // A line whose parents were written down differs from the one that the frames tell: it has to be walked.
  if (origin.mode !== "chain" || origin.parents || !isPlain(tape)) return undefined;
  if (!isRootAlone(await inheritedNamespaces(context, tape))) return undefined;
  const inherited = await lengthOfLine(context, tape, origin.at);
  return inherited === undefined ? undefined : inherited + own;
}

function isRootAlone(namespaces: ReadonlySet<string>): boolean {
  return namespaces.size === 0 || (namespaces.size === 1 && namespaces.has(""));
}

/**
 * Returns the number of rows from one to its root. It is remembered for every row on the way, so that forks of one
 * thread do not each walk its history. Undefined where a row is not shown as it is: then the view may have other rows,
 * or fewer.
 */
async function lengthOfLine(context: EngineContext, tape: Tape, from: number): Promise<number | undefined> {
  const passed: { readonly home: Tape; readonly seq: number; readonly entered: boolean }[] = [];
  let home = tape;
  let seq = from;
  let length = 0;
  while (seq !== 0) {
    const before: Tape = home;
    // Every tape on the way decides what is shown, not only the one that holds the row.
    while (home.meta.origin && seq <= home.meta.origin.upTo) {
      home = await sourceOf(context, home, home.meta.origin);
      if (!isPlain(home) || home.meta.origin?.mode === "none") return undefined;
    }
    const known = home.lengths.get(seq) ?? context.inherited.lengthAt(home, seq);
    const row = known === undefined ? await rowOf(context, home, seq) : undefined;
    if (known === undefined && !row) return undefined;
    // Rows that were read before and after a compaction do not match.
    if (home.outdated || home.meta.folds !== tape.meta.folds) return undefined;
    if (known !== undefined) {
      length = known;
      break;
    }
    passed.push({ home, seq, entered: home !== before });
    seq = (row as Row).parent;
  }
  for (const row of passed.reverse()) {
    length += 1;
    row.home.lengths.set(row.seq, length);
    // The length where a fork begins will be asked again, when the tape may have been forgotten.
    if (row.entered) context.inherited.keepLength(row.home, row.seq, length);
  }
  return length;
}

/**
 * Returns a row of this very tape. Where it is not in memory, all packs up to it are read at once, since all are
 * needed.
 */
async function rowOf(context: EngineContext, tape: Tape, seq: number): Promise<Row | undefined> {
  const known = ownRowAtHand(tape, seq);
  if (known) return known;
  await readPacksUpTo(context, tape, seq);
  return ownRowAtHand(tape, seq);
}
