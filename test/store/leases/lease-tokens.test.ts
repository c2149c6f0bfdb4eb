import { expect, test } from "vitest";
import type { Batch } from "../../../src/backend.ts";
import { memory } from "../../../src/backends/memory/index.ts";
import { open } from "../../../src/index.ts";
import { forwarding } from "../../../src/testing/index.ts";

test("a holder whose lease a failover took back is fenced, though another's lease got the same epoch", async () => {
  const backend = memory();
  let interruptions = 0;
  let last: Batch | undefined;
  const failing = forwarding(backend, {
    get interruptions() {
      return interruptions;
    },
    commit: async (batches) => {
      last = batches[0];
      return backend.commit(batches);
    },
  });
  await using one = await open(failing);
  await using two = await open(failing);
  const thread = one.thread("t");
  await thread.put({ state: { n: 1 } });
  const lost = await thread.acquire({ holder: "first" });
  // A replica that has not got the commit of the lease takes over.
  const [meta] = last?.puts ?? [];
  const before = last?.checks?.find(({ key }) => key.table === "meta")?.value;
  if (meta === undefined || before === undefined) throw new Error("acquire wrote no meta record");
  await backend.commit([{ puts: [{ key: meta.key, value: before }] }]);
  interruptions += 1;

  const held = await two.thread("t").acquire({ holder: "second" });
  expect(held.epoch).toBe(lost.epoch);
  await expect(thread.put({ state: { n: 2 } }, { lease: lost })).rejects.toMatchObject({ code: "FENCED" });
  await expect(lost.renew()).rejects.toMatchObject({ code: "FENCED" });
  await lost.release();
  await two.thread("t").put({ state: { n: 3 } }, { lease: held });
  const { thread: id, holder, epoch } = held;
  await one.thread("t").put({ state: { n: 4 } }, { lease: { thread: id, holder, epoch } });
  await held.release();
});
