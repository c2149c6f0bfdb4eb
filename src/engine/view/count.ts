import type { Context } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import type { Row } from "../records/row.ts";
import { ownRowAtHand } from "./at-hand.ts";
import { sourceOf } from "./levels.ts";
import { inheritedNamespaces, ownNamespaces } from "./namespaces.ts";
import { readPacksUpTo } from "./own-rows.ts";
import { isPlain } from "./row-at.ts";
import { shownRows } from "./shown-rows.ts";

/** How many checkpoints a thread shows: of one namespace, or of all. */
export async function countOf(context: Context, tape: Tape, namespace: string | undefined): Promise<number> {
  const known = await withoutWalking(context, tape, namespace);
  if (known !== undefined) return known;
  let count = 0;
  for await (const _ of shownRows(context, tape, namespace === undefined ? {} : { namespace })) count += 1;
  return count;
}

/** The tape's own rows are counted as they are committed; what a fork inherits is as many as the place of its beginning tells. */
async function withoutWalking(
  context: Context,
  tape: Tape,
  namespace: string | undefined,
): Promise<number | undefined> {
  const { origin, removed } = tape.meta;
  if (namespace !== undefined && !(namespace === "" && isRootAlone(await ownNamespaces(context, tape))))
    return undefined;
  const own = tape.count - removed;
  if (!origin) return own;
  // A line that leads elsewhere than the frames do has to be walked.
  if (origin.mode !== "chain" || origin.parents || !isPlain(tape)) return undefined;
  if (!isRootAlone(await inheritedNamespaces(context, tape))) return undefined;
  const inherited = await lengthOfLine(context, tape, origin.at);
  return inherited === undefined ? undefined : inherited + own;
}

function isRootAlone(namespaces: ReadonlySet<string>): boolean {
  return namespaces.size === 0 || (namespaces.size === 1 && namespaces.has(""));
}

/**
 * How many rows there are from one to its root. Remembered for every row on the way, so that forks of one thread are
 * counted without walking its history for each. Undefined where a row is not shown as it is: then others may be, or fewer.
 */
async function lengthOfLine(context: Context, tape: Tape, from: number): Promise<number | undefined> {
  const passed: { readonly home: Tape; readonly seq: number; readonly entered: boolean }[] = [];
  let home = tape;
  let seq = from;
  let length = 0;
  while (seq !== 0) {
    const before: Tape = home;
    // Every tape on the way down has a say in what is shown, not only the one that holds the row.
    while (home.meta.origin && seq <= home.meta.origin.upTo) {
      home = await sourceOf(context, home, home.meta.origin);
      if (!isPlain(home) || home.meta.origin?.mode === "none") return undefined;
    }
    const known = home.lengths.get(seq) ?? context.inherited.lengthAt(home, seq);
    const row = known === undefined ? await rowOf(context, home, seq) : undefined;
    if (known === undefined && !row) return undefined;
    // What was read before and after a compaction does not go together.
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
    // Where a fork begins it will be asked again, when the tape may have been forgotten.
    if (row.entered) context.inherited.keepLength(row.home, row.seq, length);
  }
  return length;
}

/** A row of this very tape. Where it is not in memory, all that were sealed until then are read at once: all are needed. */
async function rowOf(context: Context, tape: Tape, seq: number): Promise<Row | undefined> {
  const known = ownRowAtHand(tape, seq);
  if (known) return known;
  await readPacksUpTo(context, tape, seq);
  return ownRowAtHand(tape, seq);
}
