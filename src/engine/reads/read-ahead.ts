import type { Answer, Found, Read, Table, Value } from "../../backend.ts";
import { idAddress } from "../../model/id.ts";
import { PackRecords } from "../bodies/pack-records.ts";
import type { EngineContext } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import { PACK_TABLES } from "../records/keys.ts";
import { decodeMeta } from "../records/meta.ts";
import type { Row } from "../records/row.ts";
import { type SoughtCheckpoint, whereCarried } from "../view/carried-writes.ts";
import { writesRead } from "../view/shown-writes.ts";

/** Nets read on suspicion, where nothing is known of a tape yet. */
const GUESSED_NETS = 16;
const KNOWN_NETS = 64;
const MOST_PACKS = 16;

/** Reads of one tape: the thread's own, or (`home`) one that it builds on. */
interface Wanted {
  readonly home: Tape | undefined;
  readonly reads: readonly Read[];
}

/** Plans the reads: of the tape as it is remembered, or of one that is only known by its address. */
type Plan = (tape: Tape) => readonly Wanted[];
type Guess = (lineage: number, tape: number) => readonly Read[];

/** The checkpoints whose writes are wanted, too, as far as they are known beforehand. */
interface WritesOf {
  readonly namespace: string;
  ids(known: Tape | undefined): readonly string[];
}

/**
 * Records that an operation will probably need, read along with the thread's meta record and tail: one round trip instead of one
 * after the other. It is planned on what is remembered, which may be stale: what turns out not to be needed was read in
 * vain, what is missing is read then. Nothing is guessed where a read is no trip.
 */
export class ReadAhead {
  readonly records: PackRecords;
  readonly #context: EngineContext;
  readonly #plan: Plan;
  readonly #guess: Guess;
  readonly #writesOf: WritesOf | undefined;
  #wanted: readonly Wanted[] = [];
  #answers: readonly Answer[] = [];
  #meta: Value | undefined;
  /** The checkpoints whose writes are the last of the answers. */
  #written: readonly string[] = [];

  constructor(context: EngineContext, plan: Plan, guess: Guess = () => [], writesOf?: WritesOf) {
    this.#context = context;
    this.#writesOf = writesOf;
    this.#plan = plan;
    this.#guess = guess;
    this.records = new PackRecords(context);
  }

  reads(lineage: number, tape: number, known: Tape | undefined): readonly Read[] {
    const { distant } = this.#context.backend.capabilities;
    this.#wanted = known ? this.#plan(known) : distant ? [{ home: undefined, reads: this.#guess(lineage, tape) }] : [];
    const reads = this.#wanted.flatMap((wanted) =>
      wanted.home ? [{ get: wanted.home.metaKey }, ...wanted.reads] : wanted.reads,
    );
    if (!this.#writesOf) return reads;
    const { namespace } = this.#writesOf;
    this.#written = this.#writesOf.ids(known);
    return [...reads, ...this.#written.map((id) => writesRead(lineage, tape, namespace, id))];
  }

  take(meta: Value | undefined, answers: readonly Answer[]): void {
    this.#meta = meta;
    this.#answers = answers;
  }

  /** Returns the records with a checkpoint's writes on the thread's own tape, if they were read and go with it. */
  writes(tape: Tape, id: string): readonly Found[] | undefined {
    const index = this.#written.indexOf(id);
    if (index < 0 || this.#meta !== tape.metaValue) return undefined;
    return this.#answers.at(index - this.#written.length) as readonly Found[] | undefined;
  }

  /** Returns the records of all checkpoints whose writes were asked for, in that order. */
  allWrites(tape: Tape): readonly (readonly Found[])[] | undefined {
    const count = this.#written.length;
    if (count === 0 || this.#meta !== tape.metaValue || this.#answers.length < count) return undefined;
    return this.#answers.slice(this.#answers.length - count) as readonly (readonly Found[])[];
  }

  /** Hands on what was read, as far as it goes with the tapes as they are now. */
  settle(tape: Tape): this {
    let place = 0;
    for (const { home, reads } of this.#wanted) {
      const meta = home ? (this.#answers[place++] as Value | undefined) : this.#meta;
      const answers = this.#answers.slice(place, place + reads.length);
      place += reads.length;
      if (meta === undefined || answers.length < reads.length) continue;
      const at = home ?? tape;
      this.records.add(at, meta, reads, answers);
      if (meta === at.metaValue || decodeMeta(meta).rewrites === at.meta.rewrites) addRows(at, reads, answers);
    }
    this.#wanted = [];
    return this;
  }
}

function addRows(tape: Tape, reads: readonly Read[], answers: readonly Answer[]): void {
  for (const [index, read] of reads.entries()) {
    if (!("scan" in read) || read.scan.table !== "rows") continue;
    tape.addPacks(answers[index] as readonly Found[]);
  }
}

/** Reads ahead for the writes of some checkpoints, and the bodies of others. */
export function aheadOfWrites(
  context: EngineContext,
  namespace: string,
  written: readonly SoughtCheckpoint[],
  bodies: readonly number[] = [],
): ReadAhead {
  const plan: Plan = (tape) => bodies.flatMap((seq) => checkpointReads(context, tape, seq));
  // Where a row that is not in memory carries writes, all of them are read together: see `storedWrites`.
  const areElsewhere = (tape: Tape): boolean =>
    written.some((checkpoint) => whereCarried(tape, checkpoint, true, false).reads !== undefined);
  const ids = (known: Tape | undefined): readonly string[] =>
    known && areElsewhere(known) ? [] : written.map(({ id }) => id);
  return new ReadAhead(context, plan, undefined, { namespace, ids });
}

/** Reads ahead for the head of a namespace, with its body, and if asked for with its writes. */
export function aheadOfHead(context: EngineContext, namespace: string, writes = false): ReadAhead {
  const head = (tape: Tape | undefined): Row | undefined => {
    const unsealed = tape?.tail.findLast((entry) => entry.row.namespace === namespace)?.row;
    const sealed = unsealed ? undefined : tape?.heads.get(namespace)?.seq;
    return sealed === undefined ? unsealed : tape?.loadedPack(sealed)?.rows.find(({ seq }) => seq === sealed);
  };
  const writesOf = writes ? { namespace, ids: (tape: Tape | undefined) => idsOf(head(tape)) } : undefined;
  const plan: Plan = (tape) => {
    const row = head(tape);
    if (row) return checkpointReads(context, tape, row.seq);
    if (namespace !== "") return [];
    const { origin, rootSealed } = tape.meta;
    const seq = rootSealed || (origin?.mode === "chain" ? origin.at : 0);
    return seq === 0 ? [] : checkpointReads(context, tape, seq);
  };
  const guess: Guess = (lineage, group) => [
    { scan: { table: "net", lineage, group }, reverse: true, limit: GUESSED_NETS },
    { scan: { table: "rows", lineage, group }, reverse: true, limit: 1 },
  ];
  return new ReadAhead(context, plan, namespace === "" ? guess : undefined, writesOf);
}

function idsOf(row: Row | undefined): readonly string[] {
  return row ? [row.id] : [];
}

/**
 * Reads ahead for the checkpoint with this id, with its body, and if a namespace is given with its writes there. Only an id that tells
 * where it is can be looked for at once.
 */
export function aheadOfId(context: EngineContext, id: string, namespace?: string): ReadAhead {
  const address = idAddress(id);
  return new ReadAhead(
    context,
    (tape) => {
      const entry = tape.tail.findLast(({ row }) => row.id === id);
      if (entry) return checkpointReads(context, tape, entry.row.seq);
      let level: Tape | undefined = tape;
      while (level && level.number !== address?.tape) level = level.source;
      return level && address ? checkpointReads(context, tape, address.seq) : [];
    },
    (lineage, group) => {
      if (address?.tape !== group) return [];
      const at = { lineage, group };
      return [...packReads(at, address.seq), olderNets(at, address.seq, 0, GUESSED_NETS)];
    },
    namespace === undefined ? undefined : { namespace, ids: () => [id] },
  );
}

/** Reads ahead for a page of history, without bodies. */
export function aheadOfHistory(
  context: EngineContext,
  before: string | number | undefined,
  limit: number | undefined,
): ReadAhead {
  const start = typeof before === "string" ? idAddress(before)?.seq : before;
  const scans = (at: Address, from: number | undefined, rows: number): Read[] => {
    const packs = Math.min(Math.ceil(rows / context.packRows) + 1, MOST_PACKS);
    const scan = { ...at, table: "rows" as const };
    if (from === undefined) return [{ scan, reverse: true, limit: packs }];
    return [
      { scan: { ...scan, from: from - 1 }, limit: 1 },
      { scan: { ...scan, to: from - 1 }, reverse: true, limit: packs },
    ];
  };
  // The parent of the last row is shown, too.
  const most = (limit ?? context.packRows) + 1;
  return new ReadAhead(
    context,
    (tape) => {
      let below = start ?? tape.lastSeq + 1;
      let missing = most;
      for (const { row } of tape.tail) if (row.seq < below) missing -= 1;
      below = Math.min(below, tape.meta.sealed + 1);
      const floor = tape.meta.origin?.upTo ?? 0;
      while (missing > 0 && below > floor + 1) {
        const pack = tape.loadedPack(below - 1);
        if (!pack) return [{ home: undefined, reads: scans(addressOf(tape), below, missing) }];
        missing -= pack.rows.filter((row) => row.seq < below).length;
        below = (pack.rows[0] as Row).seq;
      }
      return [];
    },
    (lineage, group) => scans({ lineage, group }, start, most),
  );
}

interface Address {
  readonly lineage: number;
  readonly group: number;
}

function addressOf(tape: Tape): Address {
  return { lineage: tape.lineage, group: tape.number };
}

/** Returns the tape that holds a row, if all tapes between are remembered. */
function knownHome(tape: Tape, seq: number): Tape | undefined {
  let home: Tape | undefined = tape;
  while (home?.meta.origin && seq <= home.meta.origin.upTo) home = home.source;
  return home;
}

/** Lists the reads for a row, its parent's row and its body, as far as they are not remembered. */
function checkpointReads(context: EngineContext, tape: Tape, seq: number): readonly Wanted[] {
  const wanted = new Map<Tape, Read[]>();
  const add = (home: Tape, reads: readonly Read[]): void => {
    wanted.set(home, [...(wanted.get(home) ?? []), ...reads]);
  };
  const row = knownHome(tape, seq)?.tailRow(seq)?.row;
  const parent = row && row.parent !== 0 ? knownHome(tape, row.parent) : undefined;
  if (row && parent && !parent.tailRow(row.parent) && !parent.loadedPack(row.parent)) {
    add(parent, [around(addressOf(parent), "rows", row.parent)]);
  }
  let current = seq;
  while (current !== 0 && !context.trees.get(tape, current)) {
    const home = knownHome(tape, current);
    if (!home) break;
    const entry = home.tailRow(current);
    if (entry) {
      if (isFull(entry.value)) break;
      current = entry.row.base;
      continue;
    }
    const { rootSealed, rootFull, origin } = home.meta;
    const at = addressOf(home);
    const last = current === rootSealed && current !== seq;
    add(home, last ? [around(at, "net", current)] : packReads(at, current));
    add(home, [olderNets(at, current, current >= rootFull ? rootFull : 0, Math.min(KNOWN_NETS, home.packsAtOnce))]);
    if (rootFull !== 0 || !origin || origin.mode === "all") break;
    current = origin.at;
  }
  return [...wanted].map(([home, reads]) => ({ home: home === tape ? undefined : home, reads }));
}

/** Guesses, without parsing, whether a frame is full: a full frame needs nothing older. */
function isFull(value: Value): boolean {
  return typeof value === "string" && value.includes('"change":{"r":');
}

function around(at: Address, table: Table, seq: number): Read {
  return { scan: { ...at, table, from: seq }, limit: 1 };
}

function packReads(at: Address, seq: number): Read[] {
  return PACK_TABLES.map((table) => around(at, table, seq));
}

function olderNets(at: Address, seq: number, from: number, limit: number): Read {
  return { scan: { ...at, table: "net", from, to: seq - 1 }, reverse: true, limit };
}
