import type { Found, Table } from "../backend.ts";
import { unwrapJson } from "../codec/envelope.ts";
import { parseNamespaceKey } from "../model/address.ts";
import type { Fault, VerifyResult } from "../model/arguments.ts";
import type { Engine } from "./engine.ts";
import { findById } from "./find.ts";
import { checkpointOf, writeOf } from "./read.ts";
import type { Tape } from "./tape.ts";
import { allThreads } from "./threads.ts";
import { homeOf, ownRow, ownRows, type Shown, shownRows } from "./view.ts";
import { shownWrites } from "./writes.ts";

/** Records that are found by hash: damage there shows only when just that one is looked for. */
const hashed: readonly Table[] = ["id", "head", "write"];

/**
 * Reads everything that any thread shows, from storage, not from memory: every frame with its checksum, every chain,
 * every type, every write. Does not stop at a fault.
 */
export async function verifyStore(store: Engine): Promise<VerifyResult> {
  const engine = store.fresh();
  const faults: Fault[] = (await engine.backend.verify()).map((message) => ({ thread: "", checkpoint: null, message }));
  const onFault = (thread: string, error: unknown): void => void faults.push(faultOf(thread, null, error));
  for await (const tape of allThreads(engine, { onFault })) await verifyThread(engine, tape, faults);
  return { ok: faults.length === 0, faults };
}

/** Adds a fault for everything of the thread that does not read. */
export async function verifyThread(engine: Engine, tape: Tape, faults: Fault[]): Promise<void> {
  const { thread } = tape.meta;
  const before = faults.length;
  const onFault = (error: unknown): void => void faults.push(faultOf(thread, null, error));
  try {
    for await (const row of shownRows(engine, tape, { onFault })) {
      try {
        await verifyCheckpoint(engine, tape, row);
      } catch (error) {
        faults.push(faultOf(thread, row.id, error));
      }
    }
    await verifyHashed(engine, tape, onFault);
    if (faults.length === before) await verifyCount(engine, tape);
  } catch (error) {
    onFault(error);
  }
}

async function verifyCheckpoint(engine: Engine, tape: Tape, row: Shown): Promise<void> {
  const place = { thread: tape.meta.thread, namespace: parseNamespaceKey(row.namespace) };
  const checkpoint = await checkpointOf(engine, tape, place, row);
  // It was deleted meanwhile.
  if (!checkpoint) return;
  if (row.parent !== 0 && row.parent >= row.seq) throw new Error("its parent was committed after it");
  if (row.parent !== 0 && !(await ownRow(engine, await homeOf(engine, tape, row.parent), row.parent))) {
    if (await engine.thread(place.thread).then((now) => now?.metaValue === tape.metaValue))
      throw new Error("its parent is missing");
  }
  if (checkpoint.next.length !== row.pending) throw new Error("its body and its metadata do not match");
  if ((await findById(engine, tape, row.namespace, row.id))?.seq !== row.seq)
    throw new Error("it is not found by its id");
  for (const write of await shownWrites(engine, tape, row.namespace, row.id)) writeOf(engine, write);
}

async function verifyHashed(engine: Engine, tape: Tape, onFault: (error: unknown) => void): Promise<void> {
  const { lineage, number: group } = tape;
  for (const table of hashed) {
    const [found] = (await engine.read([{ scan: { table, lineage, group } }])) as readonly [readonly Found[]];
    for (const { item, part, value } of found) {
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
