import { parseNamespaceKey } from "../model/address.ts";
import type { Fault, VerifyResult } from "../model/arguments.ts";
import type { Engine } from "./engine.ts";
import { checkpointOf, writeOf } from "./read.ts";
import type { Tape } from "./tape.ts";
import { allThreads } from "./threads.ts";
import { shownRows } from "./view.ts";
import { shownWrites } from "./writes.ts";

/**
 * Reads everything that any thread shows, from storage, not from memory: every frame with its checksum, every chain,
 * every type, every write. Does not stop at a fault.
 */
export async function verifyStore(store: Engine): Promise<VerifyResult> {
  const engine = store.fresh();
  const faults: Fault[] = (await engine.backend.verify()).map((message) => ({ thread: "", checkpoint: null, message }));
  const threads = allThreads(engine);
  for (;;) {
    try {
      const next = await threads.next();
      if (next.done) break;
      await verifyThread(engine, next.value, faults);
    } catch (error) {
      faults.push(faultOf("", null, error));
      break;
    }
  }
  return { ok: faults.length === 0, faults };
}

/** Adds a fault for everything of the thread that does not read. */
export async function verifyThread(engine: Engine, tape: Tape, faults: Fault[]): Promise<void> {
  const { thread } = tape.meta;
  try {
    for await (const row of shownRows(engine, tape)) {
      try {
        const place = { thread, namespace: parseNamespaceKey(row.namespace) };
        const checkpoint = await checkpointOf(engine, tape, place, row);
        if (!checkpoint) continue;
        if (row.parent !== 0 && row.parent >= row.seq) throw new Error("its parent was committed after it");
        if (checkpoint.next.length !== row.pending) throw new Error("its body and its metadata do not match");
        for (const write of await shownWrites(engine, tape, row.namespace, row.id)) writeOf(engine, write);
      } catch (error) {
        faults.push(faultOf(thread, row.id, error));
      }
    }
  } catch (error) {
    faults.push(faultOf(thread, null, error));
  }
}

function faultOf(thread: string, checkpoint: string | null, error: unknown): Fault {
  return { thread, checkpoint, message: error instanceof Error ? error.message : String(error) };
}
