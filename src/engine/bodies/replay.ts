import { type Delta, isReplacement, OwnedCopies, replacedBy } from "../../codec/delta/index.ts";
import type { Json } from "../../codec/json.ts";
import { lowerBound } from "../../model/seq.ts";
import { isCorrupt } from "../faults/damage.ts";
import type { EngineContext } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import type { Frame } from "../records/pack/pack.ts";
import type { CarriedTask } from "../records/writes.ts";
import { homeOf, isPlain, rowAt, type Shown } from "../view/row-at.ts";
import { FrameReader } from "./frame-reader.ts";
import { loadTree } from "./load-tree.ts";
import { ValueReader } from "./values/read-values.ts";

/** Bytes of frames, and packs of rows of a tape, that a walk through a whole history remembers. */
export const FRAME_BYTES: number = 4 * 1024 * 1024;
export const PACKS = 32;
/** Characters of large values that such a walk remembers. */
const VALUE_CHARACTERS = 16 * 1024 * 1024;
/** Packs of rows read at once by such a walk: their metadata may be large. */
export const PACKS_AT_ONCE = 8;

/**
 * The rows of a history by seq, ascending, each with the seq of the frame it builds on: all that is held of a long
 * history.
 */
export interface FrameGraph {
  readonly seqs: readonly number[];
  readonly bases: readonly number[];
}

/** A checkpoint that a replay has come to. */
export interface Replayed {
  readonly row: Shown;
  /** The tree of its frame, valid until the replay goes on; undefined where it cannot be read. */
  readonly tree: Json | undefined;
  readonly tagged: boolean;
  /** The change that was applied to the tree of the frame it builds on; undefined where the tree was read as a whole. */
  readonly change: Delta | undefined;
  /** The writes that the row carries; undefined where the frame cannot be read by itself. */
  readonly writes?: readonly CarriedTask[] | undefined;
  /** Why the tree cannot be read. */
  readonly error?: unknown;
}

/** A tree that frames still to come build on; `uses` counts them. */
interface Live {
  tree: Json;
  readonly tagged: boolean;
  copies: OwnedCopies;
  uses: number;
}

/** A frame that did not read, and the pack it is in. */
interface Failed {
  readonly error: unknown;
  readonly pack: number | undefined;
}

type Came =
  | { readonly live: Live; readonly change: Delta | undefined; readonly writes?: Frame["writes"] | undefined }
  | Failed;

/**
 * Goes through the trees of a history. Each is made from the tree it builds on, in place where no other frame builds on
 * that one: so the cost is that of the changes, however long the history.
 *
 * Invariant: of the frames that build on one frame, the one with most descendants comes last and takes the tree over.
 * So no more trees are held at a time than the binary logarithm of the number of rows.
 */
export class Replay {
  readonly #context: EngineContext;
  readonly #tape: Tape;
  readonly #graph: FrameGraph;
  readonly #frames: FrameReader;
  readonly #values: ValueReader;
  /**
   * By index in the graph: the number of rows that build on a row, itself included, and its children as linked lists.
   */
  readonly #weights: Int32Array;
  readonly #children: Int32Array;
  readonly #siblings: Int32Array;
  readonly #roots: number[] = [];

  constructor(context: EngineContext, tape: Tape, graph: FrameGraph) {
    this.#context = context;
    this.#tape = tape;
    this.#graph = graph;
    this.#frames = new FrameReader(context, FRAME_BYTES);
    this.#values = new ValueReader(context, tape, VALUE_CHARACTERS);
    const { length } = graph.seqs;
    this.#weights = new Int32Array(length).fill(1);
    this.#children = new Int32Array(length).fill(-1);
    this.#siblings = new Int32Array(length).fill(-1);
    for (let index = length - 1; index >= 0; index -= 1) {
      const base = this.placeOf(graph.bases[index] as number);
      if (base < 0 || base >= index) this.#roots.push(index);
      else {
        this.#weights[base] = (this.#weights[base] as number) + (this.#weights[index] as number);
        this.#siblings[index] = this.#children[base] as number;
        this.#children[base] = index;
      }
    }
  }

  /** Returns the index of a seq in the graph; -1 if it is not there. */
  placeOf(seq: number): number {
    const { seqs } = this.#graph;
    const place = lowerBound(seqs, seq, (entry) => entry);
    return seqs[place] === seq ? place : -1;
  }

  async *bodies(): AsyncGenerator<Replayed> {
    const waiting: { readonly index: number; readonly from: Live | Failed | undefined }[] = [];
    for (const index of this.#roots) waiting.push({ index, from: undefined });
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      const seq = this.#graph.seqs[next.index] as number;
      const came = await this.#comeTo(seq, next.from);
      const row = await this.#shown(seq);
      // A row that was deleted meanwhile is not shown, yet others may build on it.
      if (row) yield replayed(row, came);
      const children = this.#childrenOf(next.index);
      if ("live" in came) came.live.uses = children.length;
      const from = "live" in came ? came.live : came;
      for (const index of children) waiting.push({ index, from });
    }
  }

  async #comeTo(seq: number, from: Live | Failed | undefined): Promise<Came> {
    const home = await homeOf(this.#context, this.#tape, seq);
    const pack = home.loadedPack(seq)?.last;
    home.forgetPacks(PACKS);
    // Within a pack, frames on top of one that cannot be read cannot be read either, except the last row, by its net
    // change.
    if (from && "error" in from && pack !== undefined && from.pack === pack && pack !== seq) return from;
    let writes: Frame["writes"];
    try {
      const { row, change, writes: carried = [] } = await this.#frame(home, seq);
      writes = carried;
      if (isReplacement(change)) return { live: live(replacedBy(change), row.tagged), change: undefined, writes };
      if (from && "tree" in from) return { live: goOn(from, change, row.tagged), change, writes };
    } catch (error) {
      if (!isCorrupt(error)) throw error;
    }
    try {
      const { tree, tagged } = await loadTree(this.#context, this.#tape, seq);
      return { live: live(tree, tagged), change: undefined, writes };
    } catch (error) {
      if (!isCorrupt(error)) throw error;
      return { error, pack };
    }
  }

  /** Returns a frame with values in place of its references. Values of frames that follow are read along. */
  async #frame(home: Tape, seq: number): Promise<Frame> {
    const frame = await this.#frames.read(home, seq);
    const names = this.#frames.valuesNear(home, seq);
    if (names.size === 0) return frame;
    if ([...names.values()].reduce((sum, length) => sum + length, 0) <= VALUE_CHARACTERS)
      await this.#values.load(names);
    return { ...frame, change: await this.#values.resolveCopied(frame.change) };
  }

  /** Returns a row as the thread shows it. */
  async #shown(seq: number): Promise<Shown | undefined> {
    const tape = this.#tape;
    try {
      if (isPlain(tape) && (await homeOf(this.#context, tape, seq)) === tape) {
        return (await this.#frames.read(tape, seq)).row;
      }
    } catch (error) {
      if (!isCorrupt(error)) throw error;
    }
    return rowAt(this.#context, tape, seq);
  }

  /** Returns the rows that build on a row, the one to visit last first. */
  #childrenOf(index: number): number[] {
    const children: number[] = [];
    for (let child = this.#children[index] as number; child >= 0; child = this.#siblings[child] as number) {
      children.push(child);
    }
    children.reverse();
    let heaviest = 0;
    for (const [place, child] of children.entries()) {
      if ((this.#weights[child] as number) > (this.#weights[children[heaviest] as number] as number)) heaviest = place;
    }
    const [last] = children.splice(heaviest, 1);
    if (last !== undefined) children.unshift(last);
    return children;
  }
}

function live(tree: Json, tagged: boolean): Live {
  return { tree, tagged, copies: new OwnedCopies(), uses: 0 };
}

/** Applies a change, in place if nothing else builds on the tree. */
function goOn(from: Live, change: Delta, tagged: boolean): Live {
  from.uses -= 1;
  // Nodes that two trees share must not be changed in place any more.
  if (from.uses > 0) from.copies = new OwnedCopies();
  const copies = from.uses > 0 ? new OwnedCopies() : from.copies;
  return { tree: copies.apply(from.tree, change), tagged: from.tagged || tagged, copies, uses: 0 };
}

function replayed(row: Shown, came: Came): Replayed {
  if ("error" in came) return { row, tree: undefined, tagged: false, change: undefined, error: came.error };
  return { row, tree: came.live.tree, tagged: came.live.tagged, change: came.change, writes: came.writes };
}
