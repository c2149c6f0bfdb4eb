import type { Read } from "../../backend.ts";
import { apply, applyOwned, isReplacement, replacedBy } from "../../codec/delta/index.ts";
import { refers } from "../../codec/envelope.ts";
import type { Json } from "../../codec/json.ts";
import { addNames } from "../../codec/references.ts";
import { isCorrupt } from "../faults/damage.ts";
import { Overtaken } from "../faults/overtaken.ts";
import type { EngineContext } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import { rangeOf } from "../records/keys.ts";
import { decodeFrames, type Frame } from "../records/pack/pack.ts";
import { decodeRows } from "../records/pack/rows.ts";
import { tailChange } from "../records/tail.ts";
import { homeOf, type Shown } from "../view/row-at.ts";
import { loadReferring, loadTree } from "./load-tree.ts";
import { PackRecords } from "./pack-records.ts";
import { ValueReader } from "./values/read-values.ts";

/** Rows of a page: about as many as a pack has. */
export const PAGE_ROWS = 64;

const OLDER_NETS = 16;

/**
 * Yields rows by pages. The row after a page is found before the page is given out: then the parents of its rows
 * usually are in memory, too.
 */
export async function* pagesOf(
  rows: AsyncGenerator<Shown>,
  wanted: (row: Shown) => boolean,
  first: number,
): AsyncGenerator<readonly Shown[]> {
  let size = Math.min(first, PAGE_ROWS);
  let page: Shown[] = [];
  for await (const row of rows) {
    if (page.length >= size) {
      yield page;
      page = [];
      size = Math.min(size * 4, PAGE_ROWS);
    }
    if (wanted(row)) page.push(row);
  }
  if (page.length > 0) yield page;
}

/** A tree that shares nodes with others of its page. The caller must not change it unless it is `owned`. */
export interface SharedTree {
  readonly tree: Json;
  readonly tagged: boolean;
  /** True once no other tree of the page is needed any more. */
  readonly owned?: boolean;
}

/**
 * Builds the trees of several rows, newest first, by seq: one from storage, the others from it, step by step. Rows that were
 * replaced or do not read are left out: the caller reads each of them by itself, which also names its fault. With `referring`, the
 * trees have references in place of large values.
 */
export async function loadPage(
  context: EngineContext,
  tape: Tape,
  rows: readonly Pick<Shown, "seq" | "replacedBy">[],
  referring = false,
): Promise<ReadonlyMap<number, SharedTree>> {
  const plain = rows.filter((row) => row.replacedBy === undefined);
  if (plain.length < 2) return new Map();
  const { folds } = tape.meta;
  const page = new Page(
    context,
    tape,
    plain.map((row) => row.seq),
    referring,
  );
  try {
    await page.read();
    // Other rows build on the oldest one.
    for (const { seq } of plain.toReversed()) await page.build(seq);
  } catch (error) {
    if (!isCorrupt(error) && !(error instanceof Overtaken)) throw error;
  }
  const stable = tape.meta.folds === folds && page.tapes.every((home) => home.meta.folds === folds);
  if (!stable) return new Map();
  // A frame that others build on may be shown replaced itself.
  for (const row of rows) if (row.replacedBy !== undefined) page.trees.delete(row.seq);
  return page.trees;
}

class Page {
  readonly trees = new Map<number, SharedTree>();
  readonly #context: EngineContext;
  readonly #tape: Tape;
  readonly #wanted: ReadonlySet<number>;
  readonly #records: PackRecords;
  readonly #homes = new Map<Tape, number[]>();
  /** Frames by seq, each as it is stored. */
  readonly #frames = new Map<number, Frame>();
  readonly #referring: boolean;

  constructor(context: EngineContext, tape: Tape, seqs: readonly number[], referring: boolean) {
    this.#referring = referring;
    this.#context = context;
    this.#tape = tape;
    this.#wanted = new Set(seqs);
    this.#records = new PackRecords(context);
  }

  get tapes(): Tape[] {
    return [...this.#homes.keys()];
  }

  /**
   * Reads the packs of all wanted rows, and along with them the older nets that the oldest row probably builds on; then
   * the large values of all frames.
   */
  async read(): Promise<void> {
    const referring = await this.#readFrames();
    if (referring.length === 0 || this.#referring) return;
    const names = new Map<string, number>();
    for (const { change } of referring) addNames(change as Json, names);
    const values = new ValueReader(this.#context, this.#tape, Number.POSITIVE_INFINITY);
    await values.load(names);
    for (const { change } of referring) await values.resolveOwned(change);
  }

  /** Reads the frames, and returns those that may have references. */
  async #readFrames(): Promise<readonly Frame[]> {
    const referring: Frame[] = [];
    for (const seq of this.#wanted) {
      const home = await homeOf(this.#context, this.#tape, seq);
      const own = this.#homes.get(home);
      if (own) own.push(seq);
      else this.#homes.set(home, [seq]);
    }
    for (const [home, own] of this.#homes) {
      const oldest = Math.min(...own);
      // Rows after the newest wanted one may be no part of this view, which has other rows under their seqs.
      const newest = Math.max(...own);
      for (const { row, value } of home.tail) {
        if (row.seq < oldest || row.seq > newest) continue;
        const frame = { row, change: tailChange(value) };
        this.#frames.set(row.seq, frame);
        if (refers(value)) referring.push(frame);
      }
      const lasts = new Set(own.flatMap((seq) => home.loadedPack(seq)?.last ?? []));
      if (lasts.size === 0) continue;
      for (const pack of await this.#records.packs(home, [...lasts], [netsBelow(home, Math.min(...lasts))])) {
        const frames = decodeFrames(decodeRows(home.number, pack.rows), pack.net, pack.steps);
        for (const frame of frames) {
          if (frame.row.seq > newest) continue;
          this.#frames.set(frame.row.seq, frame);
          if (refers(pack.rows)) referring.push(frame);
        }
      }
    }
    return referring;
  }

  async build(seq: number): Promise<void> {
    const above: Frame[] = [];
    let current = seq;
    while (!this.trees.has(current)) {
      const frame = this.#frames.get(current);
      if (frame && isReplacement(frame.change)) {
        this.#frames.delete(current);
        current = this.#onwards(current, { tree: replacedBy(frame.change), tagged: frame.row.tagged }, above);
      } else if (frame) {
        above.push(frame);
        current = frame.row.base;
      } else {
        const load = this.#referring ? loadReferring : loadTree;
        const loaded = await load(this.#context, this.#tape, current, this.#records);
        current = this.#onwards(current, loaded, above);
      }
    }
    let { tree, tagged } = this.trees.get(current) as SharedTree;
    for (const { row, change } of above.reverse()) {
      tree = apply(tree, change);
      tagged ||= row.tagged;
      this.trees.set(row.seq, { tree, tagged });
    }
  }

  /**
   * Changes a tree that belongs to this page alone, in place, up to the first wanted row, and returns the seq of that
   * row. Frames on the way are dropped, since their nodes become part of the tree.
   */
  #onwards(from: number, { tree: base, tagged: before }: SharedTree, above: Frame[]): number {
    let [seq, tree, tagged] = [from, base, before];
    while (!this.#wanted.has(seq)) {
      const { row, change } = above.pop() as Frame;
      seq = row.seq;
      this.#frames.delete(seq);
      tree = applyOwned(tree, change);
      tagged ||= row.tagged;
    }
    this.trees.set(seq, { tree, tagged });
    return seq;
  }
}

function netsBelow(tape: Tape, last: number): Read {
  const { rootFull } = tape.meta;
  const from = rootFull < last ? rootFull : 0;
  return { scan: rangeOf(tape, "net", from, last - 1), reverse: true, limit: OLDER_NETS };
}
