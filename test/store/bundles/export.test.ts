import { describe, expect, it, vi } from "vitest";
import type { Backend } from "../../../src/backend.ts";
import { memory } from "../../../src/backends/memory/index.ts";
import { open, type Store } from "../../../src/index.ts";
import { idsOf } from "../../support/collect.ts";
import { meanwhile } from "../interleaving/meanwhile.ts";
import { linesOf } from "./exported.ts";

type Any = Record<string, unknown>;

/** A thread in packs, with a replaced checkpoint and writes, and a fork of it, replaced in its own way. */
async function filled(backend: Backend): Promise<Store<Any>> {
  const store = await open<Any>(
    meanwhile(backend, async () => {}),
    { packRows: 3 },
  );
  const thread = store.thread("main");
  for (let n = 0; n <= 8; n += 1) {
    const input = n === 0 ? { state: { log: [0], text: "long ".repeat(60) } } : { update: { append: { log: [n] } } };
    await thread.put({ id: `c${n}`, ...input });
    await thread.putWrites(`c${n}`, { task: "t", writes: [{ channel: "c", value: n }] });
  }
  const fork = await thread.fork({ at: "c6", into: "fork" });
  await fork.put({ id: "f", update: { append: { log: ["f"] } } });
  await fork.put({ id: "c2", state: { log: "replaced in the fork" } });
  await thread.put({ id: "c5", state: { log: "replaced" } });
  return store;
}

async function shownBy(store: Store<Any>, id: string): Promise<unknown[]> {
  const all: unknown[] = [];
  const thread = store.thread(id);
  for await (const checkpoint of thread.history({ states: true }))
    all.push(checkpoint, await thread.writes(checkpoint.id));
  return all;
}

async function imported(lines: readonly string[]): Promise<Store<Any>> {
  const store = await open<Any>("memory:");
  await store.import(lines);
  return store;
}

const changes: Record<string, (store: Store<Any>) => Promise<unknown>> = {
  "deletes checkpoints": (store) => store.thread("main").deleteCheckpoints(["c0", "c4", "c8"]),
  prunes: (store) => store.thread("main").prune({ keepLast: 3 }),
  "prunes a fork": (store) => store.thread("fork").prune({ keepLast: 2 }),
  compacts: (store) => store.compact(),
  "replaces one more": (store) => store.thread("main").put({ id: "c1", state: { log: "replaced, too" } }),
  "deletes and compacts": async (store) => {
    for (const id of ["main", "fork"]) await store.thread(id).deleteCheckpoints(["c1", "c3", "c6"]);
    await store.compact();
  },
};

describe("an export while others are at work", () => {
  for (const [name, change] of Object.entries(changes)) {
    it(`an export holds each thread as it was at one moment while another store ${name}`, async () => {
      let acted = true;
      for (let before = 0; acted; before += 1) {
        acted = false;
        const backend = memory();
        const other = await filled(backend);
        const ids = ["main", "fork"];
        const earlier = await Promise.all(ids.map((id) => shownBy(other, id)));
        const act = async (read: number): Promise<void> => {
          if (read !== before) return;
          acted = true;
          await change(other);
        };
        const copy = await imported(await linesOf(await open<Any>(meanwhile(backend, act))));
        for (const [index, id] of ids.entries()) {
          const message = `${id}, changed before read ${before}`;
          expect([earlier[index], await shownBy(other, id)], message).toContainEqual(await shownBy(copy, id));
        }
        expect(before, "the reads of an export").toBeLessThan(200);
      }
    });
  }

  it("an export ends although other stores append and seal all the while", async () => {
    const backend = memory();
    const other = await filled(backend);
    const earlier = await shownBy(other, "main");
    const append = () => other.thread("main").put({ update: { append: { log: ["more"] } } });
    const lines = await linesOf(await open<Any>(meanwhile(backend, append)), ["main"]);
    const copied = await shownBy(await imported(lines), "main");
    expect(copied.slice(-earlier.length)).toEqual(earlier);
  });

  it("an export ends although a thread is never at rest", async () => {
    const backend = memory();
    const other = await filled(backend);
    let count = 0;
    const replace = () => other.thread("main").put({ id: "c1", state: { count: count++ } });
    const store = await open<Any>(meanwhile(backend, replace));
    let now = 0;
    const clock = vi.spyOn(performance, "now").mockImplementation(() => (now += 1_000));
    await expect(linesOf(store, ["main"])).rejects.toMatchObject({ code: "BUSY", thread: "main" });
    clock.mockRestore();
  });

  it("an export leaves out a thread that was deleted meanwhile, and is NOT_FOUND where the thread was named", async () => {
    for (const threads of [undefined, ["fork", "main"]]) {
      let acted = true;
      // The first of several reads is of the list, or of the name itself.
      for (let before = 1; acted; before += 1) {
        acted = false;
        const backend = memory();
        const other = await filled(backend);
        const act = async (read: number): Promise<void> => {
          if (read !== before) return;
          acted = true;
          for (const id of ["main", "fork"]) await other.thread(id).delete();
        };
        const exporting = linesOf(await open<Any>(meanwhile(backend, act)), threads);
        const message = `deleted before read ${before}`;
        const outcome = await exporting.then(
          async (lines) => {
            return idsOf((await imported(lines)).threads());
          },
          (error) => error.code,
        );
        expect(threads ? ["NOT_FOUND", ["fork", "main"]] : [[], ["fork"], ["fork", "main"]], message).toContainEqual(
          outcome,
        );
      }
    }
  });

  it("an export while other stores write still tells of damage", async () => {
    const backend = memory();
    const other = await filled(backend);
    await other.compact();
    const damaging: Backend = {
      ...meanwhile(backend, async () => {}),
      async read(asked) {
        const answers = await backend.read(asked);
        return answers.map((answer, index) => {
          const read = asked[index];
          return read && "get" in read && read.get.table === "steps" ? undefined : answer;
        }) as typeof answers;
      },
    };
    await expect(linesOf(await open<Any>(damaging), ["main"])).rejects.toMatchObject({ code: "CORRUPT" });
  });
});
