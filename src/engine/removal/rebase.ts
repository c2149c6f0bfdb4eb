import { compose, type Delta, diff, isReplacement, replacement, sizeOf } from "../../codec/delta/index.ts";
import type { Json } from "../../codec/json.ts";
import type { LoadedTree } from "../bodies/load-tree.ts";
import type { Frame } from "../records/pack/pack.ts";
import { fromRecord, type Row } from "../records/row.ts";
import { nearestRemaining, type ReachableRows, removedBases } from "./nearest-remaining.ts";

/** The frames that a tape holds or inherits, as they were before the removal. */
export interface ReachableFrames {
  frame(seq: number): Promise<Frame>;
  tree(seq: number): Promise<Built>;
}

type Built = Pick<LoadedTree, "tree" | "tagged" | "weight">;

/** Frames that get another change of their own, by seq: replacements are folded into them. */
export type ChangedFrames = ReadonlyMap<number, ChangedFrame>;

export interface ChangedFrame {
  /** Undefined where only the row changes. */
  readonly change: Delta | undefined;
  /** True if every thread that shows the row shows a replacement: the row's own fields go too. */
  readonly replaced: boolean;
  /** True if every thread that shows the row shows another label. */
  readonly unlabelled: boolean;
}

/** Upper bound on the heirs tried for each sibling, and on the bytes of their trees. */
const HEIRS = 16;
const HEIR_BYTES = 32 * 1024 * 1024;

/** A frame that would shrink by no more than this stays as it is. */
const FEW_BYTES = 200;

/** A surviving frame that took over a removed frame's change: siblings can be stored as deltas of it. Its tree is loaded lazily. */
interface Heir {
  readonly seq: number;
  loaded?: Built;
}

/** Rewrites each surviving row of a tape so that its parent and its base also survive. Call in ascending order of seqs. */
export class Rebasing {
  readonly #rows: ReachableRows;
  readonly #frames: ReachableFrames;
  readonly #changed: ChangedFrames;
  /** Heirs by the seq of the removed frame. */
  readonly #heirs = new Map<number, readonly Heir[]>();

  constructor(rows: ReachableRows, frames: ReachableFrames, changed: ChangedFrames) {
    this.#rows = rows;
    this.#frames = frames;
    this.#changed = changed;
  }

  async rebased(given: Row): Promise<Frame> {
    const changed = this.#changed.get(given.seq);
    const row = changed?.unlabelled ? { ...given, label: "" } : given;
    const parent = await nearestRemaining(this.#rows, row.parent);
    if (changed?.change !== undefined) {
      const { change, replaced } = changed;
      const { seq, id, namespace, step, createdAt } = row;
      const bare = replaced ? fromRecord(seq, { id, namespace, step, createdAt }) : row;
      return { row: { ...bare, parent, base: parent, tagged: true }, change };
    }
    const { change } = await this.#frames.frame(row.seq);
    if (isReplacement(change)) return { row: { ...row, parent, base: parent }, change };
    const { gone, first: base } = await removedBases(this.#rows, row.base);
    if (gone.length === 0) return { row: { ...row, parent }, change };
    const taken = await this.#takenOver({ row: { ...row, parent, base }, change }, gone);
    return this.#beside(taken, change, gone);
  }

  /** Composes a frame with the removed ones it built on; makes a full frame where no base stays. */
  async #takenOver({ row, change: own }: Frame, gone: readonly number[]): Promise<Frame> {
    if (row.base === 0) {
      const { tree, tagged } = await this.#frames.tree(row.seq);
      return { row: { ...row, base: row.parent, tagged }, change: replacement(tree) };
    }
    let change = own;
    let { tagged } = row;
    for (const seq of gone) {
      const frame = await this.#frames.frame(seq);
      change = compose(frame.change, change);
      tagged ||= frame.row.tagged;
    }
    return { row: { ...row, base: isReplacement(change) ? row.parent : row.base, tagged }, change };
  }

  /**
   * Rebases a frame on a sibling that took over the change of their removed base, where that is smaller: otherwise each
   * branch of a large checkpoint would have to hold that change.
   */
  async #beside(taken: Frame, own: Delta, gone: readonly number[]): Promise<Frame> {
    const { row } = taken;
    const heirs = gone.map((seq) => this.#heirs.get(seq)).find((found) => found !== undefined) ?? [];
    const better = heirs.length === 0 ? undefined : await this.#onTopOf(heirs, taken, bytesOf(own) + FEW_BYTES);
    if (!better?.suffices && hasRoom(heirs)) {
      const now = [...heirs, { seq: row.seq }];
      for (const seq of gone) this.#heirs.set(seq, now);
    }
    return better?.frame ?? taken;
  }

  /** Returns the smallest frame, on top of an heir or as it is, and whether it is within `enough` bytes. */
  async #onTopOf(
    heirs: readonly Heir[],
    taken: Frame,
    enough: number,
  ): Promise<{ readonly frame: Frame; readonly suffices: boolean }> {
    let best = { frame: taken, bytes: bytesOf(taken.change) };
    let after: Built | undefined;
    for (const heir of heirs) {
      if (best.bytes <= enough) break;
      heir.loaded ??= await this.#frames.tree(heir.seq);
      after ??= await this.#frames.tree(taken.row.seq);
      const change = diff(heir.loaded.tree, after.tree) ?? {};
      const bytes = bytesOf(change);
      if (bytes >= best.bytes) continue;
      const tagged = heir.loaded.tagged || after.tagged;
      const base = isReplacement(change) ? taken.row.parent : heir.seq;
      best = { frame: { row: { ...taken.row, base, tagged }, change }, bytes };
    }
    return { frame: best.frame, suffices: best.bytes <= enough };
  }
}

function hasRoom(heirs: readonly Heir[]): boolean {
  return heirs.length < HEIRS && heirs.reduce((sum, { loaded }) => sum + (loaded?.weight ?? 0), 0) < HEIR_BYTES;
}

function bytesOf(change: Delta): number {
  return sizeOf(change as Json, Number.POSITIVE_INFINITY);
}
