import type { Key, Value } from "../../backend.ts";
import type { Json } from "../../codec/json.ts";
import { jsonText } from "../../codec/json-text.ts";
import { ThreadmarkError } from "../../errors.ts";
import { FrameReader } from "../bodies/frame-reader.ts";
import { BatchBuilder } from "../commits/batch/batch.ts";
import type { EngineContext } from "../memory/context.ts";
import type { LoadedPack, Tape } from "../memory/tape.ts";
import { PACK_TABLES } from "../records/keys.ts";
import type { Meta } from "../records/meta.ts";
import { encodePack } from "../records/pack/encode.ts";
import { decodeFrames, type Frame, sizeOfFrame } from "../records/pack/pack.ts";
import { packRuns } from "../records/pack/pack-runs.ts";
import type { Row } from "../records/row.ts";
import { encodeTailRow, tailChange } from "../records/tail.ts";
import { plainTasks } from "./carried-writes.ts";
import { type ChangedFrames, Rebasing } from "./rebase.ts";
import { type RemovedRows, TapeFrames, TapeRows } from "./removed-rows.ts";

/** The records to write so that the removed rows are gone and every other row reads as before. */
export interface Rewrite {
  readonly batch: BatchBuilder;
  readonly meta: Partial<Meta>;
  /** Bytes removed less bytes written. */
  readonly reclaimed: number;
}

/**
 * Removes rows of one tape, whose packs are `packs`. A frame that builds on a removed one takes over its change (deltas are
 * composed), and its siblings build on that frame; a frame that builds on nothing any more becomes a full one. Packs that
 * keep all their rows, and build on no removed one, are not touched.
 */
export async function rewriteTape(
  context: EngineContext,
  tape: Tape,
  packs: readonly LoadedPack[],
  doomed: RemovedRows,
  changed: ChangedFrames = new Map(),
): Promise<Rewrite> {
  return new Rewriter(context, tape, doomed, changed).run(packs);
}

/** Packs read together: the first time, at most, and about how many bytes they may take. */
const FIRST_PACKS = 8;
const PACKS_PER_READ = 32;
const PAGE_BYTES = 32 * 1024 * 1024;

interface PackPlan {
  readonly last: number;
  readonly stays: readonly Row[];
  /** True if rows of the pack are removed, or build on removed ones. */
  readonly touched: boolean;
}

class Rewriter {
  readonly #context: EngineContext;
  readonly #tape: Tape;
  readonly #doomed: RemovedRows;
  readonly #rows: TapeRows;
  readonly #changed: ChangedFrames;
  readonly #frames: FrameReader;
  readonly #rebasing: Rebasing;
  readonly #batch = new BatchBuilder();
  #reclaimed = 0;
  #rootFull = 0;

  constructor(context: EngineContext, tape: Tape, doomed: RemovedRows, changed: ChangedFrames) {
    this.#context = context;
    this.#tape = tape;
    this.#doomed = doomed;
    this.#changed = changed;
    this.#frames = new FrameReader(context);
    this.#rows = new TapeRows(context, tape, doomed);
    this.#rebasing = new Rebasing(this.#rows, new TapeFrames(context, tape, this.#frames), changed);
  }

  async run(packs: readonly LoadedPack[]): Promise<Rewrite> {
    const tape = this.#tape;
    tape.checkIntact();
    const remaining: { last: number; rows: readonly Row[] }[] = [];
    const plans = await this.#plans(packs);
    let page = FIRST_PACKS;
    for (let from = 0; from < plans.length; ) {
      const together = plans.slice(from, from + page);
      const length = await this.#readPacks(together);
      for (const plan of together) {
        for (const rows of await this.#rewritePack(plan)) remaining.push({ last: (rows.at(-1) as Row).seq, rows });
      }
      from += together.length;
      page = Math.max(1, Math.min(PACKS_PER_READ, Math.floor((PAGE_BYTES * together.length) / length)));
    }
    const packed = remaining.reduce((sum, pack) => sum + pack.rows.length, 0);
    const sealedRoot = remaining.findLast((pack) => pack.rows.some((row) => row.namespace === ""));
    const rootSealed = sealedRoot?.rows.findLast((row) => row.namespace === "")?.seq ?? 0;
    const kept = await this.#rewriteTail(packed, rootSealed);
    let sealed = remaining.at(-1)?.last ?? 0;
    let lastRoot = rootSealed;
    const last = remaining.at(-1);
    if (kept === 0 && last) {
      // The newest row is always in the tail: the last pack goes back there.
      lastRoot =
        remaining
          .slice(0, -1)
          .findLast((pack) => pack.rows.some((row) => row.namespace === ""))
          ?.rows.findLast((row) => row.namespace === "")?.seq ?? 0;
      await this.#unpack(last, packed - last.rows.length, lastRoot);
      sealed = remaining.at(-2)?.last ?? 0;
    }
    const { meta } = tape;
    return {
      batch: this.#batch,
      meta: {
        floor: Math.max(meta.floor, tape.lastSeq),
        sealed,
        rootSealed: lastRoot,
        rootFull: this.#rootFull,
        rewrites: meta.rewrites + 1,
      },
      reclaimed: this.#reclaimed,
    };
  }

  async #plans(packs: readonly LoadedPack[]): Promise<readonly PackPlan[]> {
    const own = this.#doomed.get(this.#tape.number);
    const plans: PackPlan[] = [];
    for (const { last, rows } of packs) {
      const stays = own ? rows.filter((row) => !own.has(row.seq)) : rows;
      plans.push({ last, stays, touched: stays.length < rows.length || (await this.#isTouched(stays)) });
    }
    return plans;
  }

  /**
   * Reads the records of all packs that change, at once, and returns how long they are together. Packs of which no row stays
   * are only measured.
   */
  async #readPacks(plans: readonly PackPlan[]): Promise<number> {
    let length = 0;
    const changed = plans.filter(({ touched }) => touched);
    const values = await this.#packValues(changed.map(({ last }) => last));
    for (const [index, { last, stays }] of changed.entries()) {
      const [rows, net, steps] = values[index] as readonly [Value, Value, Value];
      length += rows.length + net.length + steps.length;
      if (stays.length > 0) this.#frames.offer(this.#tape, last, net, steps);
    }
    this.#reclaimed += length;
    return length;
  }

  /** Rewrites a pack and returns the rows that stay, with their new parents; in several packs if they have grown. */
  async #rewritePack({ last, stays, touched }: PackPlan): Promise<readonly (readonly Row[])[]> {
    if (!touched) {
      if (last === this.#tape.meta.rootFull) this.#rootFull = last;
      return [stays];
    }
    for (const table of PACK_TABLES) this.#batch.delete(this.#tape.key(table, last));
    if (stays.length === 0) return [];
    const frames: Frame[] = [];
    for (const row of stays) frames.push(await this.#rebased(row));
    const { full, rest } = packRuns(frames, sizeOfFrame, this.#context);
    const runs = rest.length > 0 ? [...full, rest] : full;
    for (const run of runs) {
      const encoded = encodePack(this.#tape.number, run, this.#context.compression);
      for (const table of PACK_TABLES) {
        this.#put(this.#tape.key(table, encoded.last), encoded[table]);
      }
      this.#rootFull = encoded.full.get("") ?? this.#rootFull;
    }
    return runs.map((run) => run.map((frame) => frame.row));
  }

  /** Returns a frame that stays, with the writes that its row carries; without them where the parent goes. */
  async #rebased(row: Row): Promise<Frame> {
    const { row: rebased, change } = await this.#rebasing.rebased(row);
    const { carries, ...plain } = rebased;
    if (row.carries === undefined) return { row: rebased, change };
    if (this.#doomed.get(this.#tape.number)?.has(row.seq - 1)) return { row: plain, change };
    const { writes = [] } = await this.#frames.read(this.#tape, row.seq);
    // A frame that takes the content of a replacement has another state than its writes refer to.
    const isOther = this.#changed.get(row.seq)?.replaced === true;
    const kept = isOther ? await plainTasks(this.#context, this.#tape, row.seq, writes) : writes;
    return { row: { ...plain, carries: carries ?? row.carries }, change, writes: kept };
  }

  async #isTouched(rows: readonly Row[]): Promise<boolean> {
    for (const { seq, parent, base } of rows) {
      if (this.#changed.has(seq) || (await this.#rows.isRemoved(parent))) return true;
      if (base !== parent && (await this.#rows.isRemoved(base))) return true;
    }
    return false;
  }

  /** Reads the three records of each pack. */
  async #packValues(lasts: readonly number[]): Promise<readonly (readonly Value[])[]> {
    if (lasts.length === 0) return [];
    const reads = lasts.flatMap((last) => PACK_TABLES.map((table) => ({ get: this.#tape.key(table, last) })));
    const values = (await this.#context.read(reads)) as readonly (Value | undefined)[];
    return lasts.map((last, index) => {
      const own = values.slice(3 * index, 3 * index + 3);
      if (!own.includes(undefined)) return own as readonly Value[];
      const frame = `${this.#tape.number}:${last}`;
      throw new ThreadmarkError("CORRUPT", `A record of pack ${frame} is missing. Run verify().`, {
        thread: this.#tape.meta.thread,
        frame,
      });
    });
  }

  async #rewriteTail(packed: number, rootSealed: number): Promise<number> {
    const own = this.#doomed.get(this.#tape.number);
    let count = packed;
    let root = rootSealed;
    for (const entry of this.#tape.tail) {
      const { row, value } = entry;
      if (own?.has(row.seq)) {
        this.#batch.delete(this.#tape.key("tail", row.seq));
        this.#reclaimed += value.length;
        continue;
      }
      count += 1;
      if (row.namespace === "") root = row.seq;
      if (await this.#isTouched([row])) this.#rewriteTailRow(await this.#rebased(row), count, root, value.length);
      else if (entry.count !== count || entry.root !== root) {
        this.#rewriteTailRow({ row, change: tailChange(value), writes: entry.carried }, count, root, value.length);
      }
    }
    return count - packed;
  }

  #rewriteTailRow(frame: Frame, count: number, root: number, before: number): void {
    const writes = frame.writes === undefined ? undefined : jsonText(frame.writes as unknown as Json);
    const value = encodeTailRow(frame.row, count, root, frame.change, undefined, undefined, writes);
    this.#reclaimed += before;
    this.#put(this.#tape.key("tail", frame.row.seq), value);
  }

  /** Moves the last pack, which may just have been planned, back into the tail. */
  async #unpack(
    pack: { readonly last: number; readonly rows: readonly Row[] },
    before: number,
    rootBefore: number,
  ): Promise<void> {
    const { puts } = this.#batch;
    const planned = puts.filter(
      ({ key }) => key.table !== "tail" && key.table !== "directory" && key.item === pack.last,
    );
    let values: readonly Value[];
    if (planned.length > 0) {
      values = planned.map((entry) => entry.value);
      for (const entry of planned) puts.splice(puts.indexOf(entry), 1);
    } else {
      [values] = (await this.#packValues([pack.last])) as readonly [readonly Value[]];
      for (const table of PACK_TABLES) this.#batch.delete(this.#tape.key(table, pack.last));
    }
    this.#reclaimed += values.reduce((sum, value) => sum + value.length, 0);
    const frames = decodeFrames(pack.rows, values[1] as Value, values[2] as Value);
    let root = rootBefore;
    for (const [index, frame] of frames.entries()) {
      if (frame.row.namespace === "") root = frame.row.seq;
      this.#rewriteTailRow(frame, before + index + 1, root, 0);
    }
  }

  #put(key: Key, value: Value): void {
    this.#reclaimed -= value.length;
    this.#batch.put(key, value);
  }
}
