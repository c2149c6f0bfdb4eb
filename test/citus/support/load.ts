import assert from "node:assert/strict";
import { open } from "../../../src/api/open.ts";
import { wholeHistory } from "../../../src/testing/support/snapshot.ts";
import type { CitusPlace } from "./places.ts";

interface State {
  readonly n: number;
  readonly text: string;
}

export interface Toll {
  readonly acknowledged: number;
  /** Puts whose outcome was said to be unknown. */
  readonly unknown: number;
  /** The longest time in milliseconds without an acknowledgement. */
  readonly longestGap: number;
}

/** Puts into many threads at once while `events` happen, then checks that every acknowledged checkpoint is there. */
export async function keepsAllUnderLoad(
  { url, options }: CitusPlace,
  threads: number,
  events: () => Promise<void>,
): Promise<Toll> {
  const store = await open<State>(url, { ...options, patience: 60_000 } as never);
  const acknowledged = new Map<string, number>();
  let unknown = 0;
  let longestGap = 0;
  let last = performance.now();
  let ended = false;
  const write = async (id: string): Promise<void> => {
    const thread = store.thread(id);
    for (let n = 1; !ended; n++) {
      try {
        await thread.put({ state: { n, text: `${id} ${n}` } });
        acknowledged.set(id, n);
      } catch (error) {
        assert.equal((error as { committed?: unknown }).committed, "unknown", String(error));
        unknown += 1;
      }
      const now = performance.now();
      longestGap = Math.max(longestGap, now - last);
      last = now;
    }
  };
  const writing = Array.from({ length: threads }, (_, number) => write(`thread ${number}`));
  try {
    await events();
  } finally {
    ended = true;
    await Promise.all(writing);
    await store.close();
  }
  let sum = 0;
  const reader = await open<State>(url, options as never);
  for (const [id, n] of acknowledged) {
    const states = (await wholeHistory(reader.thread(id))).map(({ state }) => state.n).reverse();
    // An outcome that was unknown may have left a checkpoint or not; an acknowledged one has.
    if (unknown === 0)
      assert.deepEqual(
        states,
        Array.from({ length: states.length }, (_, index) => index + 1),
        id,
      );
    assert.ok((states.at(-1) ?? 0) >= n, `${id} has ${states.at(-1)}, acknowledged were ${n}`);
    sum += n;
  }
  assert.deepEqual((await reader.verify()).faults, []);
  await reader.close();
  return { acknowledged: sum, unknown, longestGap: Math.round(longestGap) };
}
