import { expect, it } from "vitest";
import { open } from "../../src/index.ts";
import { howMany } from "./campaign.ts";

/** More than a call can have arguments. */
const CHECKPOINTS = 65 * howMany(2_000);

it("a thread of any length is pruned and compacted", async () => {
  const store = await open<{ n: number }>("memory:");
  const thread = store.thread("t");
  for (let n = 0; n < CHECKPOINTS; ) {
    const puts: Promise<unknown>[] = [];
    for (const end = n + 65; n < end; n += 1) puts.push(thread.put({ id: `c${n}`, state: { n } }));
    await Promise.all(puts);
  }
  expect(await thread.prune({ keepLast: CHECKPOINTS / 65 })).toMatchObject({ deleted: (CHECKPOINTS / 65) * 64 });
  await thread.fork({ at: `c${CHECKPOINTS - 2}`, into: "fork" });
  await thread.prune({ keepLast: 1 });
  await store.thread("fork").delete();
  await store.compact();
  expect((await store.stats()).checkpoints).toBe(1);
  expect((await thread.latest())?.state).toEqual({ n: CHECKPOINTS - 1 });
  await store.close();
});
