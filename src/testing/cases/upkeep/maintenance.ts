import assert from "node:assert/strict";
import type { Store } from "../../../api/store.ts";
import type { Case, Free } from "../../case.ts";
import { converse } from "../../support/conversation.ts";
import { exact } from "../../support/exact.ts";

const counts = async (store: Store<Free>): Promise<number[]> => {
  const { threads, checkpoints } = await store.measure();
  return [threads, checkpoints];
};

export const maintenance: readonly Case[] = [
  {
    name: "measure: threads and checkpoints are counted after puts, forks and deletes",
    async run({ open }) {
      const store = await open();
      exact(await counts(store), [0, 0]);
      const thread = store.thread("t");
      const kept = await converse(thread, 100);
      await store.thread("t", { namespace: ["sub"] }).put({ state: {} });
      await thread.putWrites("orphan", { task: "t", writes: [{ channel: "c", value: 1 }] });
      await store.thread("bare").putWrites("orphan", { task: "t", writes: [{ channel: "c", value: 1 }] });
      exact(await counts(store), [1, 101]);
      await thread.fork({ at: kept[9]?.id ?? "", into: "f" });
      exact(await counts(store), [2, 111]);
      await thread.copy("k");
      exact(await counts(store), [3, 212]);
      await thread.prune({ keepLast: 1 });
      exact(await counts(store), [3, 113]);
      await thread.delete();
      exact(await counts(store), [2, 111]);
      exact(await counts(await open()), [2, 111]);
    },
  },
  {
    name: "stats: of a small store they are as measured, after puts, forks and deletes",
    async run({ open }) {
      const store = await open();
      const compare = async (): Promise<void> => {
        const { bytes, behind: _, ...stats } = await store.stats();
        const { bytes: measured, behind: __, ...all } = await store.measure();
        exact(stats, all);
        // Files of the medium may grow or shrink by themselves.
        exact({ ...bytes, total: 0 }, { ...measured, total: 0 });
        assert.ok(bytes.total !== null && bytes.total >= 0 && measured.total >= 0);
      };
      await compare();
      const thread = store.thread("t");
      await thread.put({ state: {} });
      await thread.fork({ into: "f" });
      await store.thread("bare").putWrites("orphan", { task: "t", writes: [{ channel: "c", value: 1 }] });
      await compare();
      await thread.delete();
      await compare();
      await store.thread("f").delete();
      await compare();
    },
  },

  {
    name: "measure: bytes grow with puts, and not with forks and copies",
    async run({ open }) {
      const store = await open();
      const total = async (): Promise<number> => {
        const { bytes } = await store.measure();
        const kinds = ["directory", "metadata", "tail", "packs", "index", "writes", "values"] as const;
        for (const kind of kinds) assert.ok(Number.isSafeInteger(bytes[kind]) && bytes[kind] >= 0, kind);
        return kinds.reduce((sum, kind) => sum + bytes[kind], 0);
      };
      const empty = await total();
      const thread = store.thread("t");
      await thread.put({ state: { text: "x".repeat(100_000), list: [] } });
      for (let n = 0; n < 100; n++) await thread.put({ update: { append: { list: [n] } } });
      const filled = await total();
      assert.ok(filled - empty >= 100_000 && filled - empty < 300_000, `${filled - empty} bytes for 100 small steps`);
      for (let n = 0; n < 10; n++) {
        await thread.fork({ into: `f${n}` });
        await thread.copy(`k${n}`);
      }
      assert.ok((await total()) - filled < 20_000, `${(await total()) - filled} bytes for 20 forks and copies`);
    },
  },
  {
    name: "verify: verify finds no fault after every operation, nor in an empty store",
    async run({ open }) {
      const store = await open();
      exact(await store.verify(), { ok: true, faults: [] });
      const thread = store.thread("t");
      const kept = await converse(thread, 150);
      await thread.fork({ at: kept[70]?.id ?? "", into: "f", edits: { e: 1 } });
      await thread.copy("k");
      await thread.put({ id: kept[10]?.id ?? "", state: { replaced: 1 } });
      await thread.label(kept[20]?.id ?? "", "label");
      await thread.putWrites(kept[30]?.id ?? "", { task: "t", writes: [{ channel: "c", value: 1n }] });
      await thread.deleteCheckpoints([kept[40]?.id ?? ""]);
      await store.thread("k").prune({ keepLast: 5, ancestors: "protect" });
      await store.thread("f").prune({ keepLast: 5 });
      await store.thread("f", { namespace: ["sub"] }).put({ state: {} });
      exact(await store.verify(), { ok: true, faults: [] });
      await store.compact();
      exact(await (await open()).verify(), { ok: true, faults: [] });
    },
  },
];
