import type { Value } from "../../backend.ts";
import { refers } from "../../codec/envelope.ts";
import type { Json } from "../../codec/json.ts";
import { addNames } from "../../codec/references.ts";
import { ThreadmarkError } from "../../errors.ts";
import { untilUndisturbed } from "../faults/attempts.ts";
import type { EngineContext } from "../memory/context.ts";
import type { LoadedPack, Tape } from "../memory/tape.ts";
import { decodeFrames, type Frame } from "../records/pack/pack.ts";
import { tailChange } from "../records/tail.ts";
import { ownRow } from "../view/lineage/own-rows.ts";
import { renew, rewriteCheck } from "../view/lineage/renew.ts";

/** Packs are kept until their records are this long together, unless the caller gives another bound. */
const KEPT = 64 * 1024 * 1024;

interface KeptPack {
  readonly frames: ReadonlyMap<number, Frame>;
  readonly length: number;
  /** True if frames of the pack refer to large values. */
  readonly refers: boolean;
}

/**
 * Reads single frames as they are stored, with references in place of large values; each pack once unless there are
 * too many to keep.
 */
export class FrameReader {
  readonly #context: EngineContext;
  readonly #most: number;
  /** Packs by tape and last seq; the newest comes last. */
  readonly #packs = new Map<string, KeptPack>();
  #kept = 0;
  readonly #offered = new Map<string, readonly [net: Value, steps: Value]>();

  constructor(context: EngineContext, most: number = KEPT) {
    this.#context = context;
    this.#most = most;
  }

  /** Takes over the records of a pack that the caller has read already. */
  offer(tape: Tape, last: number, net: Value, steps: Value): void {
    this.#offered.set(`${tape.number}:${last}`, [net, steps]);
  }

  /** Returns the frame of this very tape with this seq. The caller must not alter its change. */
  async read(tape: Tape, seq: number): Promise<Frame> {
    let current = tape;
    const wasRewritten = rewriteCheck(async () => {
      const now = await renew(this.#context, tape);
      current = now ?? tape;
      return now;
    });
    return untilUndisturbed(tape.meta.thread, () => this.#find(current, seq), wasRewritten);
  }

  /** Returns the values that a frame refers to which was just read, and those of the other frames of its pack. */
  valuesNear(tape: Tape, seq: number): ReadonlyMap<string, number> {
    const names = new Map<string, number>();
    const tail = tape.tailRow(seq);
    const last = tape.loadedPack(seq)?.last;
    const pack = tail ? undefined : this.#packs.get(`${tape.number}:${last}`);
    if (tail && refers(tail.value)) addNames(tailChange(tail.value) as Json, names);
    if (pack?.refers) for (const { change } of pack.frames.values()) addNames(change as Json, names);
    return names;
  }

  async #find(tape: Tape, seq: number): Promise<Frame> {
    const tail = tape.tailRow(seq);
    if (tail) return { row: tail.row, change: tailChange(tail.value), writes: tail.carried };
    const pack = tape.loadedPack(seq) ?? ((await ownRow(this.#context, tape, seq)) && tape.loadedPack(seq));
    const frame = pack && (await this.#pack(tape, pack)).get(seq);
    if (frame) return frame;
    throw new ThreadmarkError("CORRUPT", `Frame ${tape.number}:${seq} is missing. Run verify().`, {
      thread: tape.meta.thread,
      frame: `${tape.number}:${seq}`,
    });
  }

  #keep(name: string, pack: KeptPack): void {
    for (const [other, { length }] of this.#packs) {
      if (this.#kept + pack.length <= this.#most) break;
      this.#packs.delete(other);
      this.#kept -= length;
    }
    this.#packs.set(name, pack);
    this.#kept += pack.length;
  }

  async #pack(tape: Tape, pack: LoadedPack): Promise<ReadonlyMap<number, Frame>> {
    const name = `${tape.number}:${pack.last}`;
    const known = this.#packs.get(name);
    if (known) return known.frames;
    const keys = (["net", "steps"] as const).map((table) => ({ get: tape.key(table, pack.last) }));
    const values = this.#offered.get(name) ?? ((await this.#context.read(keys)) as readonly (Value | undefined)[]);
    this.#offered.delete(name);
    const [net, steps] = values;
    try {
      if (net === undefined || steps === undefined) throw new Error("A record of the pack is missing.");
      const frames = new Map(decodeFrames(pack.rows, net, steps).map((frame) => [frame.row.seq, frame]));
      this.#keep(name, { frames, length: net.length + steps.length, refers: refers(net) });
      return frames;
    } catch (error) {
      if (error instanceof ThreadmarkError && error.code !== "CORRUPT") throw error;
      const fault = error instanceof Error ? error.message : String(error);
      throw new ThreadmarkError("CORRUPT", `Pack ${name}: ${fault} Run verify().`, {
        thread: tape.meta.thread,
        frame: name,
        cause: error,
      });
    }
  }
}
