import type { Found, Key, Table, Value } from "../backend.ts";
import { unwrapJson } from "../codec/envelope.ts";
import { parseNamespaceKey } from "../model/address.ts";
import type { Fault, VerifyResult, WorkOptions } from "../model/arguments.ts";
import { idAddress } from "../model/id.ts";
import { isCorrupt } from "./damage.ts";
import type { Engine } from "./engine.ts";
import { findById } from "./find.ts";
import { hashStrings } from "./hash.ts";
import type { Origin } from "./meta.ts";
import { ownRow, ownRows } from "./own-rows.ts";
import { loadPage, pagesOf, type SharedTree } from "./page.ts";
import { pushAll } from "./push-all.ts";
import { checkpointOf, writeOf } from "./read.ts";
import { TapeNumbers } from "./shared-numbers.ts";
import { shownRows } from "./shown-rows.ts";
import { type EncodedWrite, shownWrites, writesOfRows } from "./shown-writes.ts";
import { standingOf } from "./standing.ts";
import type { Tape } from "./tape.ts";
import { allThreads } from "./threads.ts";
import type { Body } from "./tree-cache.ts";
import { nextTurn } from "./turn.ts";
import { homeOf, type Shown } from "./view.ts";

/** Records that are found by hash: damage there shows only when just that one is looked for. */
const hashed: readonly Table[] = ["id", "head", "write"];

/**
 * Reads everything that any thread shows, from storage, not from memory: every frame with its checksum, every chain,
 * every type, every write. Does not stop at a fault.
 */
export async function verifyStore(store: Engine, progress?: WorkOptions["progress"]): Promise<VerifyResult> {
  const engine = store.fresh();
  const faults: Fault[] = (await engine.backend.verify()).map((message) => ({ thread: "", checkpoint: null, message }));
  const onFault = (thread: string, error: unknown): void => void faults.push(faultOf(thread, null, error));
  const numbers = new TapeNumbers(engine);
  let done = 0;
  try {
    for await (const tape of allThreads(engine, { onFault })) {
      await verifyThread(engine, tape, faults);
      await numbers.add(tape);
      done += 1;
      progress?.(done);
    }
  } catch (error) {
    // The list of threads itself is damaged: that is what was asked for, not a failure to answer.
    if (!isCorrupt(error)) throw error;
    onFault("", error);
  }
  pushAll(faults, await numbers.faults());
  return { ok: faults.length === 0, faults };
}

/** How often a thread is looked at because others change it while something of it does not read. */
const ATTEMPTS = 20;

/** Adds a fault for everything of the thread that does not read; not for what others have removed or moved meanwhile. */
export async function verifyThread(known: Engine, found: Tape, faults: Fault[]): Promise<void> {
  const { thread } = found.meta;
  let engine = known;
  let tape: Tape | undefined = found;
  try {
    for (let attempt = 1; tape; attempt += 1) {
      const holds = await standingOf(engine, tape);
      const own = await faultsOf(engine, tape);
      if (own.length === 0 || attempt === ATTEMPTS || (await holds())) return pushAll(faults, own);
      // What is remembered may be of either side of the change.
      engine = known.fresh();
      tape = await engine.thread(thread);
    }
  } catch (error) {
    if (!isCorrupt(error)) throw error;
    faults.push(faultOf(thread, null, error));
  }
}

async function faultsOf(engine: Engine, tape: Tape): Promise<Fault[]> {
  const { thread } = tape.meta;
  const faults: Fault[] = [];
  const onFault = (error: unknown): void => void faults.push(faultOf(thread, null, error));
  try {
    for await (const page of pagesOf(shownRows(engine, tape, { onFault }))) {
      await nextTurn();
      const atHand = await readPage(engine, tape, page);
      for (const row of page) {
        try {
          await verifyCheckpoint(engine, tape, row, atHand);
        } catch (error) {
          faults.push(faultOf(thread, row.id, error));
        }
      }
    }
    await verifyHashed(engine, tape, onFault);
    if (faults.length === 0) await verifyCount(engine, tape);
  } catch (error) {
    onFault(error);
  }
  return faults;
}

/** What was read for a page of rows at once. What is not there is read row by row, so that a fault has its checkpoint. */
interface PageAtHand {
  readonly trees: ReadonlyMap<number, SharedTree>;
  /** The seqs of those whose id leads to them. */
  readonly found: ReadonlySet<number>;
  /** Writes by seq. */
  readonly writes: ReadonlyMap<number, readonly EncodedWrite[]>;
}

async function readPage(engine: Engine, tape: Tape, page: readonly Shown[]): Promise<PageAtHand> {
  const trees = await loadPage(engine, tape, page);
  try {
    return { trees, found: await indexedSeqs(engine, tape, page), writes: await writesOfRows(engine, tape, page) };
  } catch (error) {
    if (!isCorrupt(error)) throw error;
    return { trees, found: new Set(), writes: new Map() };
  }
}

/** More than this many records of the index are not looked up at once. */
const MOST_LOOKUPS = 2_000;

/** Rows whose supplied id leads to them, and on the tapes from the thread's own up to theirs to no other row. */
async function indexedSeqs(engine: Engine, tape: Tape, page: readonly Shown[]): Promise<ReadonlySet<number>> {
  const lookups: { readonly seq: number; readonly home: boolean; readonly key: Key }[] = [];
  const candidates = new Map<number, boolean>();
  for (const { id, seq, namespace } of page) {
    const home = await homeOf(engine, tape, seq);
    if (idAddress(id) || (home === tape && tape.tailRow(seq))) continue;
    candidates.set(seq, home.tailRow(seq) !== undefined);
    for (
      let level = tape;
      ;
      level = level.source ?? (await engine.tapes.sourceOf(level, level.meta.origin as Origin))
    ) {
      const { greatestId } = level.meta;
      const key = level.key("id", ...hashStrings(namespace, id));
      if (greatestId !== undefined && id <= greatestId) lookups.push({ seq, home: level === home, key });
      if (level.tail.some(({ row }) => row.id === id && row.namespace === namespace && row.seq !== seq)) {
        candidates.delete(seq);
      }
      if (level === home) break;
    }
  }
  if (lookups.length > MOST_LOOKUPS) return new Set();
  const reads = lookups.map(({ key }) => ({ get: key }));
  const values = reads.length === 0 ? [] : ((await engine.read(reads)) as readonly (Value | undefined)[]);
  const found = new Map(candidates);
  for (const [index, { seq, home }] of lookups.entries()) {
    const value = values[index];
    if (value === undefined) continue;
    const [first, ...others] = unwrapJson(value) as readonly number[];
    if (home && !candidates.get(seq) && first === seq && others.length === 0) {
      if (found.has(seq)) found.set(seq, true);
    } else {
      found.delete(seq);
    }
  }
  return new Set([...found].flatMap(([seq, is]) => (is ? [seq] : [])));
}

async function verifyCheckpoint(engine: Engine, tape: Tape, row: Shown, atHand: PageAtHand): Promise<void> {
  const place = { thread: tape.meta.thread, namespace: parseNamespaceKey(row.namespace) };
  const ready = atHand.trees.get(row.seq);
  // A tree without tags is all that is to be seen of it.
  const body = ready?.tagged === false ? (ready.tree as Body) : undefined;
  const checkpoint = body ? undefined : await checkpointOf(engine, tape, place, row, { ready });
  // It was deleted meanwhile.
  if (!checkpoint && !body) return;
  if (row.parent !== 0 && row.parent >= row.seq) throw new Error("its parent was committed after it");
  if (row.parent !== 0 && !(await ownRow(engine, await homeOf(engine, tape, row.parent), row.parent))) {
    throw new Error("its parent is missing");
  }
  const next = checkpoint?.next ?? (body?.n as readonly unknown[] | undefined);
  if (next?.length !== row.pending) throw new Error("its body and its metadata do not match");
  const found = atHand.found.has(row.seq) || (await findById(engine, tape, row.namespace, row.id))?.seq === row.seq;
  if (!found) throw new Error("it is not found by its id");
  const writes = atHand.writes.get(row.seq) ?? (await shownWrites(engine, tape, row.namespace, row.id));
  for (const write of writes) writeOf(engine, write);
}

async function verifyHashed(engine: Engine, tape: Tape, onFault: (error: unknown) => void): Promise<void> {
  const { lineage, number: group } = tape;
  const answers = await engine.read(hashed.map((table) => ({ scan: { table, lineage, group } })));
  for (const [index, table] of hashed.entries()) {
    for (const { item, part, value } of answers[index] as readonly Found[]) {
      try {
        unwrapJson(value);
      } catch (error) {
        const fault = error instanceof Error ? error.message : String(error);
        onFault(new Error(`record ${group}:${item}:${part} of table ${table}: ${fault}`));
      }
    }
  }
}

/** A record that is gone altogether leaves a gap in the numbers its neighbours carry. */
async function verifyCount(engine: Engine, tape: Tape): Promise<void> {
  if (tape.tail.length === 0) return;
  const { metaValue, count } = tape;
  let rows = 0;
  for await (const _ of ownRows(engine, tape, Number.POSITIVE_INFINITY)) rows += 1;
  if (rows !== count && tape.metaValue === metaValue && tape.count === count)
    throw new Error(`it has ${rows} checkpoints of its own and should have ${count}`);
}

function faultOf(thread: string, checkpoint: string | null, error: unknown): Fault {
  return { thread, checkpoint, message: error instanceof Error ? error.message : String(error) };
}
