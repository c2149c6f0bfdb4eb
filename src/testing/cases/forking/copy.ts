import assert from "node:assert/strict";
import type { Case } from "../../case.ts";
import { converse, readsBack, smallPacks } from "../../support/conversation.ts";
import { exact } from "../../support/exact.ts";
import { failsWith } from "../../support/failures.ts";
import { collect, idsOf, renamed, snapshot } from "../../support/snapshot.ts";

export const copy: readonly Case[] = [
  {
    name: "copy: a copy has all checkpoints of all namespaces and branches, with their writes, ids, seqs and parents",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      await thread.put({ id: "a", state: { n: 1 }, label: "first" });
      await thread.put({ id: "b", state: { n: 2 } });
      await thread.put({ id: "c", state: { n: 3 } }, { parent: "a" });
      await thread.put({ id: "root", state: { n: 4 } }, { parent: null });
      const nested = store.thread("t", { namespace: ["x", "y"] });
      await nested.put({ id: "n1", state: { nested: 1 } });
      await nested.put({ id: "n2", state: { nested: 2 } });
      await nested.putWrites("n1", { task: "t", node: "n", writes: [{ channel: "c", value: new Date(3) }] });
      await thread.put({ id: "b", state: { n: 20 } });
      const before = await snapshot(store, "t");
      const copied = await thread.copy("k");
      assert.equal(copied.id, "k");
      exact(await snapshot(store, "k"), renamed(before, "k"));
      exact(await snapshot(store, "t"), before);
      exact(await snapshot(await open(), "k"), renamed(before, "k"));
    },
  },
  {
    name: "copy: an unknown source is NOT_FOUND, an existing target CONFLICT, and neither makes a thread",
    async run({ open }) {
      const store = await open();
      await failsWith("NOT_FOUND", () => store.thread("nobody").copy("k"));
      const thread = store.thread("t");
      await thread.put({ id: "a", state: {} });
      await store.thread("other").put({ id: "o", state: { o: 1 } });
      await failsWith("CONFLICT", () => thread.copy("other"));
      await failsWith("CONFLICT", () => thread.copy("t"));
      exact(
        (await collect(store.threads())).map(({ id }) => id),
        ["other", "t"],
      );
      exact((await store.thread("other").latest())?.state, { o: 1 });
      await thread.delete();
      await failsWith("NOT_FOUND", () => thread.copy("k"));
      exact(
        (await collect(store.threads())).map(({ id }) => id),
        ["other"],
      );
    },
  },
  {
    name: "copy: copies of copies and of forks each continue on their own",
    async run({ open }) {
      const store = await open(smallPacks);
      const first = store.thread("k0");
      const kept = [await converse(first, 30)];
      for (let level = 1; level <= 6; level++) {
        const source = store.thread(`k${level - 1}`);
        const target = level % 3 === 0 ? await source.fork({ into: `k${level}` }) : await source.copy(`k${level}`);
        const own = await converse(target, 10, `level ${level} `);
        kept.push([...(kept[level - 1] ?? []), ...own]);
      }
      for (let level = 0; level <= 3; level++) await converse(store.thread(`k${level}`), 12, "afterwards ");
      for (const reader of [store, await open()]) {
        for (const [level, list] of kept.entries()) {
          const thread = reader.thread(`k${level}`);
          assert.equal(await thread.count(), list.length + (level <= 3 ? 12 : 0));
          await readsBack(
            thread,
            list.filter((_, index) => index % 7 === 0),
          );
          await readsBack(thread, list.slice(-3));
        }
      }
    },
  },
  {
    name: "copy: seqs of a copy continue from those of its source, and heads of branches stay",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      await thread.put({ id: "a", state: { list: [1] } });
      await thread.put({ id: "b", state: { list: [1, 2] } });
      const branch = await thread.put({ id: "c", state: { list: [1, 3] } }, { parent: "a" });
      const copied = await thread.copy("k");
      const next = await copied.put({ id: "d", update: { append: { list: [4] } } });
      assert.ok(next.seq > branch.seq);
      exact([next.parent, (await copied.latest())?.state], ["c", { list: [1, 3, 4] }]);
      await copied.put({ id: "e", update: { append: { list: [5] } } }, { parent: "b" });
      exact((await copied.latest())?.state, { list: [1, 2, 5] });
      exact(await idsOf(thread), ["c", "b", "a"]);
      exact(await idsOf(copied), ["e", "d", "c", "b", "a"]);
    },
  },
];
