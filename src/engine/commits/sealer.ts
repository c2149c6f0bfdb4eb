import type { Pieces } from "../../codec/delta/index.ts";
import { atEndOfTurn } from "../../platform/turns.ts";
import type { EngineContext } from "../memory/context.ts";
import { type Tape, UNSEALED } from "../memory/tape.ts";
import { packRuns } from "../records/pack/pack-runs.ts";
import { type TailRow, tailBytes } from "../records/tail.ts";
import { ALONE } from "./draft/draft.ts";
import { encodingRun, type SealedRun, sealRuns } from "./seal.ts";
import type { ThreadChange } from "./thread-change.ts";

/** Milliseconds of work in a turn of its own, and between two commits that leave no turn. */
const SLICE = 1;
const SHORT_SLICE = 0.15;

/** Commits without a turn of the event loop after which slices go between them. */
const PATIENCE = 4;

/**
 * Seals the rows of one lane's tape beside its commits. A pack is encoded in slices, each in a turn of the event loop of its own, and
 * committed as a change of its own, after the changes that wait. Where commits follow each other without such a turn, a short slice goes between
 * them, so that every seal is finished some time. Nothing is lost if the process ends: unsealed rows read as well as packs.
 */
export class Sealer {
  readonly #context: EngineContext;
  readonly #add: (change: ThreadChange<boolean>) => Promise<boolean>;
  /** The tape of the seal under way, as of the last commit. */
  #tape: Tape | undefined;
  #encoding: Pieces<SealedRun> | undefined;
  #committing = false;
  #scheduled = false;
  #waited = 0;
  /** After a seal that did not succeed, none is begun before the tail has this many rows. */
  #notBefore = 0;

  constructor(context: EngineContext, add: (change: ThreadChange<boolean>) => Promise<boolean>) {
    this.#context = context;
    this.#add = add;
  }

  /** Tells whether a seal is under way. */
  get active(): boolean {
    return this.#encoding !== undefined || this.#committing;
  }

  /** Begins a seal, or goes on with it. Called after each commit of the lane's rows, with the tape they went to. */
  after(tape: Tape): void {
    this.#tape = tape;
    if (this.#committing) return;
    if (this.#encoding === undefined && !this.#begin(tape)) {
      this.#tape = undefined;
      return;
    }
    this.#schedule();
    this.#waited += 1;
    if (this.#waited > PATIENCE) this.#advance(SHORT_SLICE);
  }

  #begin(tape: Tape): boolean {
    if (tape.tail.length < this.#notBefore || tape.damaged.length > 0 || tape.meta.dead) return false;
    const [rows] = packRuns(tape.tail.slice(0, -UNSEALED), tailBytes, this.#context).full;
    if (rows === undefined) return false;
    this.#encoding = encodingRun(this.#context, tape.number, rows);
    this.#waited = 0;
    return true;
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    atEndOfTurn(() => {
      this.#scheduled = false;
      this.#waited = 0;
      if (this.#encoding === undefined || this.#committing) return;
      this.#advance(SLICE);
      if (this.#encoding !== undefined) this.#schedule();
    });
  }

  /** Encodes for some time, and commits when that is done. */
  #advance(milliseconds: number): void {
    if (this.#context.calls.closed) {
      this.#encoding = undefined;
      return;
    }
    const end = performance.now() + milliseconds;
    const encoding = this.#encoding as Pieces<SealedRun>;
    try {
      do {
        const piece = encoding.next();
        if (!piece.done) continue;
        this.#encoding = undefined;
        void this.#commit(piece.value);
        return;
      } while (performance.now() < end);
    } catch {
      this.#failed();
    }
  }

  async #commit(run: SealedRun): Promise<void> {
    this.#committing = true;
    const length = this.#tape?.tail.length ?? 0;
    try {
      // Where the rows were sealed by another store, or are gone, the next commit shows what there is to do.
      this.#notBefore = (await this.#add(sealChange(run))) ? 0 : length + 1;
    } catch {
      this.#failed();
    }
    this.#committing = false;
    const tape = this.#tape;
    this.#tape = undefined;
    if (tape && !this.#context.calls.closed) this.after(tape);
  }

  /**
   * Lets the next attempt wait until the tail is twice as long. A full disk or a damaged row is reported to the call that
   * needs it.
   */
  #failed(): void {
    this.#encoding = undefined;
    this.#notBefore = 2 * (this.#tape?.tail.length ?? this.#context.packRows);
  }
}

/** Puts a pack in place of its rows. Does nothing, and says so, where they are no longer the oldest of the tail. */
function sealChange(run: SealedRun): ThreadChange<boolean> {
  return {
    plan: async (draft) => {
      if (!draft.empty) throw ALONE;
      const tape = draft.existing;
      if (!tape || tape.meta.dead || tape.damaged.length > 0 || !beginsWith(tape.tail, run.rows)) return false;
      draft.closed = true;
      draft.unsealed = tape.tail.slice(run.rows.length);
      await sealRuns(draft, tape, [run]);
      return true;
    },
  };
}

function beginsWith(tail: readonly TailRow[], rows: readonly TailRow[]): boolean {
  if (tail.length < rows.length + UNSEALED) return false;
  return rows.every(({ row, value }, index) => tail[index]?.row.seq === row.seq && tail[index]?.value === value);
}
