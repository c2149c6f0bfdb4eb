import type { Answer, Found, Read, Value } from "../../backend.ts";
import { lowerBound } from "../../model/seq.ts";
import { missingFrame } from "../faults/missing.ts";
import { Overtaken } from "../faults/overtaken.ts";
import type { EngineContext } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import { PACK_TABLES, rangeOf } from "../records/keys.ts";
import { decodeMeta } from "../records/meta.ts";

/** The three records of a pack, read from one snapshot: records of different versions do not match. */
export interface PackRecord {
  readonly last: number;
  readonly rows: Value;
  readonly net: Value;
  readonly steps: Value;
}

/** All `net` records of a tape from seq `from` up to that of the last one, ascending. */
interface Span {
  readonly from: number;
  readonly nets: readonly Found[];
}

/** The pack records of one tape that were read. */
interface Known {
  readonly folds: number | undefined;
  readonly spans: Span[];
  readonly packs: PackRecord[];
}

const FIRST_PAGE = 16;
const LAST_PAGE = 256;

/**
 * The pack records that one operation has read. Records that it will need are read together, so that the number of
 * round trips goes by pages and not by checkpoints.
 *
 * Invariant: records that were read at different moments match as long as the tape counts the same folds. Deletions
 * leave the tree of every other seq as it was; only a compaction that folds replaced content into frames changes trees.
 */
export class PackRecords {
  readonly #context: EngineContext;
  readonly #tapes = new Map<number, Known>();
  #page = FIRST_PAGE;

  constructor(context: EngineContext) {
    this.#context = context;
  }

  /** Returns the `net` record of the pack that holds a sealed row. */
  async net(tape: Tape, seq: number): Promise<Found> {
    const known = this.knownNet(tape, seq);
    if (known) return known;
    const from = seq === tape.meta.rootSealed ? tape.meta.rootFull : 0;
    const limit = Math.min(this.#page, tape.packsAtOnce);
    this.#page = Math.min(this.#page * 4, LAST_PAGE);
    if (seq === tape.meta.sealed) {
      // The last sealed row ends its pack, so no record behind it has to be looked for.
      const reads: readonly Read[] = [
        { get: tape.metaKey },
        { scan: rangeOf(tape, "net", from, seq), reverse: true, limit },
      ];
      const [meta, nets] = (await this.#context.read(reads)) as readonly [Value | undefined, readonly Found[]];
      this.#check(tape, meta);
      const [last] = nets;
      if (last?.item === seq) {
        this.#addNets(tape, nets, limit, from, undefined);
        return last;
      }
    }
    const [meta, [around], below] = (await this.#context.read([
      { get: tape.metaKey },
      { scan: rangeOf(tape, "net", seq), limit: 1 },
      { scan: rangeOf(tape, "net", from, seq - 1), reverse: true, limit },
    ])) as readonly [Value | undefined, readonly Found[], readonly Found[]];
    this.#check(tape, meta);
    if (!around) throw missingFrame(tape, seq);
    this.#addNets(tape, below, limit, from, around);
    return around;
  }

  /** Returns the records of the pack that ends with `last`. */
  async pack(tape: Tape, last: number): Promise<PackRecord> {
    const [pack] = await this.packs(tape, [last]);
    if (!pack) throw missingFrame(tape, last);
    return pack;
  }

  /** Returns the records of several packs, in one read; a pack that is not there is left out. */
  async packs(tape: Tape, lasts: readonly number[], ahead: readonly Read[] = []): Promise<readonly PackRecord[]> {
    const known = this.#of(tape).packs;
    const sought = lasts.filter((last) => !known.some((pack) => pack.last === last));
    if (sought.length > 0) {
      const reads: Read[] = sought.flatMap((last) => PACK_TABLES.map((table) => ({ get: tape.key(table, last) })));
      const [meta, ...answers] = await this.#context.read([{ get: tape.metaKey }, ...reads, ...ahead]);
      this.#check(tape, meta as Value | undefined);
      for (const [index, last] of sought.entries()) {
        const [rows, net, steps] = answers.slice(3 * index, 3 * index + 3) as readonly (Value | undefined)[];
        if (rows !== undefined && net !== undefined && steps !== undefined) known.push({ last, rows, net, steps });
      }
      this.#addAhead(tape, ahead, answers.slice(reads.length));
    }
    return known.filter((pack) => lasts.includes(pack.last));
  }

  /** Adds records that were read along with the meta record: scans of one pack, and of older nets. */
  add(tape: Tape, meta: Value, reads: readonly Read[], answers: readonly Answer[]): void {
    if (!sameFolds(tape, meta)) return;
    const around = new Map<string, Found>();
    for (const [index, read] of reads.entries()) {
      if (!("scan" in read) || read.scan.group !== tape.number || read.limit !== 1 || read.reverse) continue;
      const [found] = answers[index] as readonly Found[];
      if (!found) continue;
      around.set(read.scan.table, found);
      if (read.scan.table === "net") this.#of(tape).spans.push({ from: read.scan.from ?? 0, nets: [found] });
    }
    const [rows, net, steps] = [around.get("rows"), around.get("net"), around.get("steps")];
    if (rows && net && steps && rows.item === net.item && net.item === steps.item) {
      this.#of(tape).packs.push({ last: net.item, rows: rows.value, net: net.value, steps: steps.value });
    }
    this.#addAhead(tape, reads, answers);
  }

  #addAhead(tape: Tape, reads: readonly Read[], answers: readonly Answer[]): void {
    for (const [index, read] of reads.entries()) {
      if (!("scan" in read) || read.scan.group !== tape.number || read.scan.table !== "net" || !read.reverse) continue;
      this.#addNets(tape, answers[index] as readonly Found[], read.limit, read.scan.from ?? 0, undefined);
    }
  }

  /** Adds nets; `below` comes newest first. With fewer than `limit` there are no older ones down to `from`. */
  #addNets(
    tape: Tape,
    below: readonly Found[],
    limit: number | undefined,
    from: number,
    around: Found | undefined,
  ): void {
    const nets = below.toReversed();
    const all = limit === undefined || below.length < limit;
    if (around) nets.push(around);
    const lowest = nets[0];
    if (lowest) this.#of(tape).spans.push({ from: all ? from : lowest.item, nets });
  }

  /** Returns the `net` record of the pack that holds a row, if it was read already. */
  knownNet(tape: Tape, seq: number): Found | undefined {
    for (const { from, nets } of this.#of(tape).spans) {
      if (seq < from) continue;
      const found = nets[lowerBound(nets, seq, (net) => net.item)];
      if (found) return found;
    }
    return undefined;
  }

  #of(tape: Tape): Known {
    let known = this.#tapes.get(tape.number);
    if (!known || known.folds !== tape.meta.folds) {
      known = { folds: tape.meta.folds, spans: [], packs: [] };
      this.#tapes.set(tape.number, known);
    }
    return known;
  }

  #check(tape: Tape, meta: Value | undefined): void {
    if (meta === undefined || !sameFolds(tape, meta)) throw new Overtaken(tape);
  }
}

function sameFolds(tape: Tape, meta: Value): boolean {
  return meta === tape.metaValue || decodeMeta(meta).folds === tape.meta.folds;
}
