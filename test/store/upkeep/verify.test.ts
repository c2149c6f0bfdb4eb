import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, test } from "vitest";
import { memory } from "../../../src/backends/memory/index.ts";
import { open, type Store, ThreadmarkError } from "../../../src/index.ts";
import { folderOfTest } from "../../support/folders-of-tests.ts";
import { meanwhile } from "../interleaving/meanwhile.ts";

type Any = Record<string, unknown>;

test("verify reports a damaged list of threads as a fault, with all that was found before", async () => {
  const backend = memory();
  const filling = await open<Any>(meanwhile(backend, async () => {}));
  for (let n = 100; n <= 250; n += 1) await filling.thread(`t${n}`).put({ id: "c", state: { n } });
  const store = await open<Any>({
    ...meanwhile(backend, async () => {}),
    verify: async () => ["The medium is damaged, too."],
    async read(asked) {
      const goesOn = asked.some((read) => "list" in read && read.list.after !== undefined);
      if (goesOn) throw new ThreadmarkError("CORRUPT", "The list is damaged here.");
      return backend.read(asked);
    },
  });
  let looked = 0;
  const progress = (done: number): void => {
    looked = done;
  };
  const { ok, faults } = await store.verify({ progress });
  expect([ok, looked]).toEqual([false, 100]);
  expect(faults.map(({ message }) => message)).toEqual(["The medium is damaged, too.", "The list is damaged here."]);
});

test("verify of a file store whose list of threads is damaged answers", async () => {
  const directory = folderOfTest();
  const filling = await open<Any>(`file:${directory}`);
  for (const id of ["a", "b", "c"]) await filling.thread(id).put({ state: {} });
  await filling.close();
  const path = join(directory, "directory.jsonl");
  const bytes = readFileSync(path);
  const second = bytes.indexOf("\n") + 1;
  writeFileSync(path, bytes.fill(0, second + 5, bytes.indexOf("\n", second) + 30));
  const store = await open<Any>(`file:${directory}`);
  const { ok, faults } = await store.verify();
  expect(ok).toBe(false);
  expect(faults.map(({ message }) => message)).toContainEqual(expect.stringContaining("directory.jsonl"));
  await store.close();
});

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
    it(`verify finds no fault that is not there while another store ${name}`, async () => {
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
