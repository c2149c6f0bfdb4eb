import type { Backend, Batch } from "../../../src/backend.ts";
import { sharedBackend } from "../../support/shared-backend.ts";

/** Returns a backend whose answers take a few turns of the microtask queue longer, now more, now fewer. */
export function slow(
  inner: Backend,
  most: number,
  beforeCommit?: (batches: readonly Batch[]) => Promise<void>,
): Backend {
  let seed = 1;
  const wait = async (): Promise<void> => {
    seed = (seed * 48_271) % 2_147_483_647;
    await turns(seed % most);
  };
  return sharedBackend(inner, {
    async read(reads) {
      const answers = await inner.read(reads);
      await wait();
      return answers;
    },
    async commit(batches) {
      await wait();
      await beforeCommit?.(batches);
      const applied = await inner.commit(batches);
      await wait();
      return applied;
    },
  });
}

/** Returns a slow backend where another does something just before one of the reads, and once more before a later one. */
export function overtaken(shared: Backend, before: number, act: () => Promise<unknown>, later = Infinity): Backend {
  const inner = slow(shared, 1);
  let reads = 0;
  return sharedBackend(inner, {
    async read(asked) {
      const read = reads++;
      if (read === before || read === later) await act();
      return inner.read(asked);
    },
  });
}

export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await null;
}
