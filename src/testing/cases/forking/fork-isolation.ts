import assert from "node:assert/strict";
import type { Thread } from "../../../api/thread.ts";
import type { Case, Free } from "../../case.ts";
import { smallPacks } from "../../support/conversation.ts";
import { exact } from "../../support/exact.ts";
import { collect, idsOf, renamed, snapshot, type ThreadSnapshot } from "../../support/snapshot.ts";

/** Every possible change of a thread, each on its own. */
const changes: readonly {
  readonly what: string;
  make(thread: Thread<Free>, ids: readonly string[]): Promise<unknown>;
}[] = [
  { what: "a commit", make: (thread) => thread.put({ state: { new: 1 } }) },
  { what: "a branch", make: (thread, ids) => thread.put({ update: { set: { b: 1 } } }, { parent: ids[2] ?? "" }) },
  { what: "many commits", make: putTwenty },
  { what: "a replacement of the head", make: (thread, ids) => thread.put({ id: ids.at(-1) ?? "", state: { r: 1 } }) },
  { what: "a replacement of a root", make: (thread, ids) => thread.put({ id: ids[0] ?? "", state: { r: 2 } }) },
  { what: "a replacement in the middle", make: (thread, ids) => thread.put({ id: ids[20] ?? "", state: { r: 3 } }) },
  { what: "a label", make: (thread, ids) => thread.label(ids[3] ?? "", "changed") },
  {
    what: "a write",
    make: (thread, ids) => thread.putWrites(ids[4] ?? "", { task: "new", writes: [{ channel: "c", value: 1 }] }),
  },
  {
    what: "a control write over an earlier one",
    make: (thread, ids) =>
      thread.putWrites(ids[4] ?? "", { task: "shared", writes: [{ channel: "e", value: "over", index: -1 }] }),
  },
  {
    what: "the end of some checkpoints",
    make: (thread, ids) => thread.deleteCheckpoints([ids[5] ?? "", ids[25] ?? ""]),
  },
  { what: "the end of the head", make: (thread, ids) => thread.deleteCheckpoints([ids.at(-1) ?? ""]) },
  { what: "the end of a run", make: (thread) => thread.deleteRun("r2") },
  { what: "a prune", make: (thread) => thread.prune({ keepLast: 2 }) },
  { what: "the end of the thread", make: (thread) => thread.delete() },
  {
    what: "a new life after its end",
    make: async (thread, ids) => {
      await thread.delete();
      await thread.put({ id: ids[7] ?? "", state: { reborn: true } });
    },
  },
];

async function putTwenty(thread: Thread<Free>): Promise<void> {
  await Promise.all(Array.from({ length: 20 }, (_, n) => thread.put({ update: { set: { later: n } } })));
}

async function prepare(thread: Thread<Free>): Promise<string[]> {
  const ids = Array.from({ length: 40 }, (_, n) => `c${n}`);
  await Promise.all(
    ids.map((id, n) => thread.put({ id, state: { n, list: Array(n % 9).fill(n) }, run: n % 5 === 0 ? "r2" : "r1" })),
  );
  await thread.putWrites("c4", {
    task: "shared",
    node: "x",
    writes: [
      { channel: "c", value: { n: 4 } },
      { channel: "e", value: "first", index: -1 },
    ],
  });
  await thread.label("c3", "before");
  return ids;
}

export const forkIsolation: readonly Case[] = [
  ...changes.map(
    ({ what, make }): Case => ({
      name: `fork isolation: ${what} on one side is not seen on the other`,
      async run({ open }) {
        const store = await open(smallPacks);
        const unchanged: { readonly id: string; readonly before: ThreadSnapshot }[] = [];
        for (const side of ["source", "fork", "copy", "fork of a fork"] as const) {
          const source = store.thread(`${side}: source`);
          const ids = await prepare(source);
          const middle = await (side === "copy" ? source.copy(`${side}: a`) : source.fork({ into: `${side}: a` }));
          const last = await middle.fork({ into: `${side}: b` });
          const changed = side === "fork of a fork" ? last : side === "fork" || side === "copy" ? middle : source;
          const before = await snapshot(store, changed.id);
          await make(changed, ids);
          for (const { id } of [source, middle, last].filter((other) => other !== changed)) {
            exact(await snapshot(store, id), renamed(before, id), `${id} after ${what} on ${side}`);
            unchanged.push({ id, before: renamed(before, id) });
          }
          assert.notDeepEqual(await snapshot(store, changed.id), before, `${what} did change ${changed.id}`);
        }
        // A single compaction for all sides, which share nothing: a backend may have to rewrite every table.
        await store.compact();
        for (const { id, before } of unchanged) exact(await snapshot(store, id), before, `${id} after compact`);
        exact(await store.verify(), { ok: true, faults: [] });
      },
    }),
  ),
  {
    name: "fork isolation: data writes after a fork stay on their side, and earlier ones are shared",
    async run({ open }) {
      const store = await open();
      const source = store.thread("s");
      await source.put({ id: "a", state: {} });
      await source.putWrites("a", { task: "t", writes: [{ channel: "c", value: "shared" }] });
      const forked = await source.fork({ into: "f" });
      const write = (value: string) => ({
        task: "t",
        writes: [
          { channel: "c", value },
          { channel: "c", value },
        ],
      });
      exact({ ...(await source.putWrites("a", write("source"))) }, { stored: 1, ignored: 1 });
      exact({ ...(await forked.putWrites("a", write("fork"))) }, { stored: 1, ignored: 1 });
      exact(
        (await source.writes("a")).map(({ value }) => value),
        ["shared", "source"],
      );
      exact(
        (await forked.writes("a")).map(({ value }) => value),
        ["shared", "fork"],
      );
      await source.putWrites("b", write("not yours"));
      await forked.put({ id: "b", state: {} });
      exact(await forked.writes("b"), []);
    },
  },
  {
    name: "fork isolation: deleting the source leaves forks, copies and forks of forks whole",
    async run({ open }) {
      const store = await open(smallPacks);
      const source = store.thread("s");
      await prepare(source);
      const before = await snapshot(store, "s");
      const forked = await source.fork({ into: "f" });
      await source.copy("k");
      await forked.fork({ into: "ff" });
      await source.delete();
      await store.compact();
      await forked.delete();
      await store.compact();
      await store.close();
      const again = await open();
      exact(
        (await collect(again.threads())).map(({ id }) => id),
        ["ff", "k"],
      );
      for (const id of ["k", "ff"]) exact(await snapshot(again, id), renamed(before, id));
      exact(await idsOf(await again.thread("ff").fork({ at: "c1" })), ["c1", "c0"]);
      exact(await again.verify(), { ok: true, faults: [] });
    },
  },
  {
    name: "fork isolation: a fork into the name of an emptied thread leaves the forks and copies of that thread whole",
    async run({ open }) {
      const store = await open();
      const emptied = store.thread("emptied");
      for (const id of ["e1", "e2"]) await emptied.put({ id, state: { id } });
      const others = [await emptied.fork({ into: "fork" }), await emptied.copy("copy")];
      await emptied.deleteCheckpoints(["e1", "e2"]);
      const thread = store.thread("t");
      await thread.put({ id: "c", state: { id: "c" } });
      await thread.fork({ into: "emptied" });
      for (let round = 0; round < 2; round++) {
        for (const reader of [store, await open()]) {
          exact(await idsOf(reader.thread("emptied")), ["c"]);
          for (const { id } of others) {
            exact(await idsOf(reader.thread(id)), ["e2", "e1"], id);
            exact((await reader.thread(id).get("e1"))?.state, { id: "e1" }, id);
          }
        }
        exact(await store.verify(), { ok: true, faults: [] });
        await store.compact();
      }
    },
  },
  {
    name: "fork isolation: fork, replace, fork, replace, and every thread keeps its version",
    async run({ open }) {
      const store = await open();
      let thread = store.thread("f0");
      for (let n = 0; n < 10; n++) await thread.put({ id: `c${n}`, state: { n, version: 0 } });
      for (let version = 1; version <= 20; version++) {
        thread = await thread.fork({ into: `f${version}` });
        await thread.put({ id: `c${version % 10}`, state: { n: version % 10, version } });
      }
      for (let depth = 0; depth <= 20; depth++) {
        const reader = store.thread(`f${depth}`);
        for (let n = 0; n < 10; n++) {
          const version = [n + 20, n + 10, n].find((one) => one <= depth && one > 0) ?? 0;
          exact((await reader.get(`c${n}`))?.state, { n, version }, `c${n} in f${depth}`);
        }
      }
    },
  },
  {
    name: "fork isolation: writes stay in forks and copies, however often their checkpoint comes and goes in the source",
    async run({ open }) {
      const store = await open();
      const source = store.thread("s");
      const write = (value: string) => ({ task: "t", writes: [{ channel: "c", value }] });
      await source.put({ id: "a", state: {} });
      await source.putWrites("a", write("first"));
      await source.copy("k");
      await source.fork({ into: "f" });
      for (const round of ["second", "third"]) {
        await source.deleteCheckpoints(["a"]);
        exact(await source.writes("a"), []);
        await source.put({ id: "a", state: {} });
        exact(await source.writes("a"), []);
        await source.putWrites("a", write(round));
        await source.fork({ into: `f-${round}` });
      }
      await source.deleteCheckpoints(["a"]);
      await store.compact();
      const expected = { k: "first", f: "first", "f-second": "second", "f-third": "third" };
      for (const reader of [store, await open()]) {
        for (const [id, value] of Object.entries(expected)) {
          exact(
            (await reader.thread(id).writes("a")).map((one) => one.value),
            [value],
            `the writes in ${id}`,
          );
        }
        exact(await reader.thread("s").writes("a"), []);
      }
    },
  },
  {
    name: "fork: a fork shows all its ancestors, read in pages, when a checkpoint deleted before it is compacted away",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      for (let n = 1; n <= 10; n++) await thread.put({ id: `c${n}`, state: { n } });
      const other = await thread.fork({ into: "other" });
      await thread.deleteCheckpoints(["c5"]);
      const fork = await thread.fork({ into: "f" });
      const ids = ["c10", "c9", "c8", "c7", "c6", "c4", "c3", "c2", "c1"];
      exact(await idsOf(fork, { limit: 5 }), ids.slice(0, 5));
      await other.delete();
      await store.compact();
      await thread.latest();
      exact(await idsOf(fork), ids);
      exact((await fork.get("c6"))?.parent, "c4");
    },
  },
  {
    name: "fork: a fork of a fork counts the checkpoints it shows, without those that the middle fork deleted or bypassed",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      for (let n = 1; n <= 5; n++) await thread.put({ id: `c${n}`, state: { n } });
      const deleting = await thread.fork({ into: "deleting" });
      await deleting.deleteCheckpoints(["c3"]);
      await deleting.fork({ into: "of deleting" });
      const leading = await thread.fork({ into: "leading" });
      await leading.put({ id: "c4", state: { n: "again" } }, { parent: "c1" });
      await leading.fork({ into: "of leading" });
      const expected = { "of deleting": ["c5", "c4", "c2", "c1"], "of leading": ["c5", "c4", "c1"] };
      for (let round = 0; round < 2; round++) {
        for (const reader of [store, await open()]) {
          const infos = new Map((await collect(reader.threads())).map((info) => [info.id, info]));
          for (const [id, ids] of Object.entries(expected)) {
            exact(await idsOf(reader.thread(id)), ids, id);
            exact([await reader.thread(id).count(), infos.get(id)?.checkpoints], [ids.length, ids.length], id);
          }
        }
        await store.compact();
      }
    },
  },
];
