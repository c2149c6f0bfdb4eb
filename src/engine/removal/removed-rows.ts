import type { FrameReader } from "../bodies/frame-reader.ts";
import { type LoadedTree, loadReferring } from "../bodies/load-tree.ts";
import { PackRecords } from "../bodies/pack-records.ts";
import type { EngineContext } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import type { Frame } from "../records/pack/pack.ts";
import type { Row } from "../records/row.ts";
import { ownRow } from "../view/lineage/own-rows.ts";
import { homeOf } from "../view/row-at.ts";
import type { ReachableRows } from "./nearest-remaining.ts";
import type { ReachableFrames } from "./rebase.ts";

/** The seqs of the rows that are removed, by tape. */
export type RemovedRows = ReadonlyMap<number, ReadonlySet<number>>;

/** Looks up the rows that `tape` holds or inherits, each on its home tape. */
export class TapeRows implements ReachableRows {
  readonly #context: EngineContext;
  readonly #tape: Tape;
  readonly #doomed: RemovedRows;

  constructor(context: EngineContext, tape: Tape, doomed: RemovedRows) {
    this.#context = context;
    this.#tape = tape;
    this.#doomed = doomed;
  }

  async isRemoved(seq: number): Promise<boolean> {
    if (seq === 0) return false;
    const home = await homeOf(this.#context, this.#tape, seq);
    return this.#doomed.get(home.number)?.has(seq) ?? false;
  }

  async row(seq: number): Promise<Row | undefined> {
    return ownRow(this.#context, await homeOf(this.#context, this.#tape, seq), seq);
  }
}

/** Reads the frames that `tape` holds or inherits. */
export class TapeFrames implements ReachableFrames {
  readonly #context: EngineContext;
  readonly #tape: Tape;
  readonly #reader: FrameReader;
  readonly #records: PackRecords;

  constructor(context: EngineContext, tape: Tape, reader: FrameReader) {
    this.#context = context;
    this.#tape = tape;
    this.#reader = reader;
    this.#records = new PackRecords(context);
  }

  async frame(seq: number): Promise<Frame> {
    return this.#reader.read(await homeOf(this.#context, this.#tape, seq), seq);
  }

  tree(seq: number): Promise<LoadedTree> {
    return loadReferring(this.#context, this.#tape, seq, this.#records);
  }
}
