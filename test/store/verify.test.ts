import { describe, expect, it } from "vitest";
import { memory } from "../../src/backends/memory/index.ts";
import { open, type Store } from "../../src/index.ts";
import { meanwhile } from "./meanwhile.ts";

type Any = Record<string, unknown>;

const ways: Record<string, (store: Store<Any>) => Promise<unknown>> = {
  prunes: (store) => store.thread("t").prune({ keepLast: 2 }),
  "prunes what no fork shares": async (store) => {
    await store.thread("fork").delete();
    await store.thread("t").prune({ keepLast: 2 });
  },
  "deletes checkpoints": (store) => store.thread("t").deleteCheckpoints(["c0", "c3", "c4", "c8"]),
  "deletes checkpoints and compacts": async (store) => {
    for (const id of ["t", "fork"]) await store.thread(id).deleteCheckpoints(["c1", "c3", "c6"]);
    await store.compact();
  },
  "deletes the threads": async (store) => {
    for (const id of ["t", "fork"]) await store.thread(id).delete();
  },
  "replaces a checkpoint and compacts": async (store) => {
    await store.thread("t").put({ id: "c5", state: { n: "again" } });
    await store.compact();
  },
};

describe("verify while others are at work", () => {
  for (const [name, change] of Object.entries(ways)) {
    it(`finds no fault that is not there: another ${name}`, async () => {
      let acted = true;
      for (let before = 0; acted; before += 1) {
        acted = false;
        const backend = memory();
        const other = await open<Any>(
          meanwhile(backend, async () => {}),
          { packRows: 3 },
        );
        const thread = other.thread("t");
        for (let n = 0; n <= 8; n += 1) {
          await thread.put({ id: `c${n}`, ...(n === 0 ? { state: { n } } : { update: { set: { n } } }) });
          if (n % 3 === 0) await thread.putWrites(`c${n}`, { task: "k", writes: [{ channel: "c", value: n }] });
        }
        await (await thread.fork({ at: "c6", into: "fork" })).put({ id: "f", update: { set: { n: "f" } } });
        await thread.put({ id: "c4", state: { n: "replaced" } });
        const act = async (read: number): Promise<void> => {
          if (read !== before) return;
          acted = true;
          await change(other);
        };
        const store = await open<Any>(meanwhile(backend, act));
        expect(await store.verify(), `changed before read ${before}`).toEqual({ ok: true, faults: [] });
        expect(before, "the reads of a verification").toBeLessThan(200);
      }
    });
  }
});
