import assert from "node:assert/strict";
import type { Case } from "../../case.ts";
import { converse, readsBack, smallPacks } from "../../support/conversation.ts";
import { exact } from "../../support/exact.ts";
import { failsWith } from "../../support/failures.ts";
import { collect, idsOf, renamed, shaped, snapshot } from "../../support/snapshot.ts";

export const fork: readonly Case[] = [
  {
    name: "fork: a fork of the head shows the whole line under the new thread's id, everything else equal",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      await thread.put({ state: { n: 1 }, node: "a", run: "r", workflow: "w", next: ["b"], metadata: { m: 1 } });
      const head = await thread.put({ state: { n: 2 }, node: "b", label: "mark", stateVersion: 2 });
      await thread.putWrites(head.id, { task: "t1", node: "b", writes: [{ channel: "c", value: 1 }] });
      const before = await snapshot(store, "t");
      const forked = await thread.fork({ into: "f" });
      assert.equal(forked.id, "f");
      exact(await snapshot(store, "f"), renamed(before, "f"));
      exact(await snapshot(store, "t"), before);
      exact((await forked.tuple())?.parent?.thread, "f");
    },
  },
  {
    name: "fork: a fork at a checkpoint shows it and its ancestors, and no other earlier commits",
    async run({ open }) {
      const thread = (await open()).thread("t");
      await thread.put({ id: "a", state: { n: 1 } });
      await thread.put({ id: "b", state: { n: 2 } });
      await thread.put({ id: "c", state: { n: 3 } }, { parent: "a" });
      await thread.put({ id: "d", state: { n: 4 } });
      exact(await idsOf(await thread.fork({ at: "d" })), ["d", "c", "a"]);
      exact(await idsOf(await thread.fork({ at: "c" })), ["c", "a"]);
      exact(await idsOf(await thread.fork({ at: "b" })), ["b", "a"]);
      exact(await idsOf(await thread.fork({ at: "a" })), ["a"]);
      const forked = await thread.fork({ at: "c" });
      exact([await forked.get("b"), await forked.get("d")], [undefined, undefined]);
      await failsWith("NOT_FOUND", () => forked.put({ state: {} }, { parent: "b" }));
      assert.equal(await forked.count(), 2);
      const next = await forked.put({ state: { n: 5 } });
      assert.equal(next.parent, "c");
      exact(await idsOf(forked), [next.id, "c", "a"]);
    },
  },
  {
    name: "fork: a fork without a given id gets a new id each time",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      await thread.put({ state: {} });
      const forks = [await thread.fork(), await thread.fork(), await thread.fork({})];
      assert.equal(new Set([thread.id, ...forks.map(({ id }) => id)]).size, 4);
      const listed = (await collect(store.threads())).map(({ id }) => id);
      exact(listed.sort(), ["t", ...forks.map(({ id }) => id)].sort());
    },
  },
  {
    name: "fork: a fork at a step begins at the last checkpoint committed with that step",
    async run({ open }) {
      const thread = (await open()).thread("t");
      await thread.put({ id: "a", state: {}, step: 0 });
      await thread.put({ id: "b", state: {}, step: 1 });
      await thread.put({ id: "c", state: {}, step: 1 });
      await thread.put({ id: "d", state: {}, step: 2 });
      exact(await idsOf(await thread.fork({ at: { step: 1 } })), ["c", "b", "a"]);
    },
  },
  {
    name: "fork: a fork with edits adds a single checkpoint that copies all fields that are not edited",
    async run({ open, clock }) {
      const store = await open();
      const thread = store.thread("main");
      await thread.put({ id: "a", state: { a: 1, list: [1] }, node: "x", workflow: "w" });
      const at = await thread.put({
        id: "b",
        state: { a: 2, list: [1, 2] },
        step: 9,
        node: "y",
        next: ["z", { node: "q", task: "1", arg: 5n }],
        completed: ["y"],
        interrupts: [{ id: "i", node: "z", value: "?" }],
        barriers: [{ node: "j", arrived: ["y"] }],
        run: "r",
        label: "old",
        stateVersion: 3,
        metadata: { m: 1 },
      });
      await thread.put({ id: "c", state: { a: 3 } });
      await thread.putWrites("b", { task: "t", writes: [{ channel: "c", value: 1 }] });
      const before = await snapshot(store, "main");
      const original = await thread.get("b");
      assert.ok(original !== undefined);
      clock.advance(5000);
      const forked = await thread.fork({ at: "b", into: "f", edits: { a: 99, extra: new Date(1) } });
      const top = await forked.latest();
      assert.ok(top !== undefined);
      assert.notEqual(top.id, "b");
      assert.ok(top.seq > at.seq);
      exact(shaped(top), {
        ...shaped(original),
        id: top.id,
        thread: "f",
        seq: top.seq,
        parent: "b",
        source: "fork",
        label: "fork-of:main",
        createdAt: clock.now(),
        state: { a: 99, list: [1, 2], extra: new Date(1) },
      });
      exact(await idsOf(forked), [top.id, "b", "a"]);
      exact(await forked.writes(top.id), []);
      assert.equal((await forked.writes("b")).length, 1);
      exact(await snapshot(store, "main"), before);
      const labelled = await (await thread.fork({ at: "b", edits: {}, label: "mine" })).latest();
      exact([labelled?.label, labelled?.state], ["mine", { a: 2, list: [1, 2] }]);
    },
  },
  {
    name: "fork: a fork with history none is a single root checkpoint, without writes and nested namespaces",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("main");
      await thread.put({ id: "a", state: { a: 1, b: [1] }, node: "x" });
      await thread.put({ id: "b", state: { a: 2, b: [1, 2] }, node: "y", step: 4, next: ["z"], run: "r" });
      await store.thread("main", { namespace: ["sub"] }).put({ state: { nested: 1 } });
      await thread.putWrites("b", { task: "t", writes: [{ channel: "c", value: 1 }] });
      for (const edits of [undefined, { a: 99 }]) {
        const forked = await thread.fork({ history: "none", ...(edits === undefined ? {} : { edits }) });
        assert.equal(await forked.count(), 1);
        const only = await forked.latest();
        assert.ok(only !== undefined && only.id !== "b");
        exact(
          [only.parent, only.step, only.source, only.label, only.run, only.path, only.next, only.state],
          [
            null,
            4,
            "fork",
            "fork-of:main",
            "r",
            ["x", "y"],
            [{ node: "z" }],
            { a: edits === undefined ? 2 : 99, b: [1, 2] },
          ],
        );
        exact(await forked.writes(only.id), []);
        assert.equal(await store.thread(forked.id, { namespace: ["sub"] }).count(), 0);
        const next = await forked.put({ update: { append: { b: [3] } } });
        exact([next.parent, (await forked.latest())?.state.b], [only.id, [1, 2, 3]]);
      }
    },
  },
  {
    name: "fork: a missing source is NOT_FOUND, an existing target CONFLICT, and neither makes a thread",
    async run({ open }) {
      const store = await open();
      await failsWith("NOT_FOUND", () => store.thread("nobody").fork({ into: "f" }));
      const thread = store.thread("t");
      await thread.put({ id: "a", state: {} });
      await store.thread("other").put({ id: "o", state: { o: 1 } });
      await failsWith("NOT_FOUND", () => thread.fork({ at: "nope", into: "f" }));
      await failsWith("NOT_FOUND", () => thread.fork({ at: { step: 99 }, into: "f" }));
      await failsWith("CONFLICT", () => thread.fork({ into: "other" }));
      await failsWith("CONFLICT", () => thread.fork({ into: "t" }));
      await failsWith("CONFLICT", () => thread.fork({ into: "other", edits: { a: 1 } }));
      await failsWith("CONFLICT", () => thread.fork({ into: "other", history: "none" }));
      exact(
        (await collect(store.threads())).map(({ id, checkpoints }) => [id, checkpoints]),
        [
          ["other", 1],
          ["t", 1],
        ],
      );
      exact((await store.thread("other").latest())?.state, { o: 1 });
      await store.thread("other").delete();
      exact(await idsOf(await thread.fork({ into: "other" })), ["a"]);
    },
  },
  {
    name: "fork: a fork anywhere in a long history shows exactly the states that were put, and continues from there",
    async run({ open }) {
      const store = await open(smallPacks);
      const thread = store.thread("t");
      const kept = await converse(thread, 50);
      for (const position of [0, 1, 15, 16, 17, 31, 37, 49]) {
        const forked = await thread.fork({ at: kept[position]?.id ?? "", into: `f${position}` });
        assert.equal(await forked.count(), position + 1);
        // The checkpoints near the fork, and some others.
        const inherited = kept.slice(0, position + 1).filter((_, index) => index % 9 === 0 || index > position - 3);
        await readsBack(forked, inherited);
        const own = await converse(forked, 18, "fork ");
        const again = (await open(smallPacks)).thread(forked.id);
        await readsBack(again, [...inherited, ...own.filter((_, index) => index % 9 === 0 || index > 14)]);
        assert.equal(await again.count(), position + 19);
      }
      await readsBack(thread, kept);
      assert.equal(await thread.count(), 50);
    },
  },
  {
    name: "fork: forks of forks, hundreds deep, each with a checkpoint of its own, all read back",
    async run({ open }) {
      const store = await open();
      let thread = store.thread("f0");
      await thread.put({ id: "c0", state: { list: [0], shared: "same" } });
      for (let depth = 1; depth <= 200; depth++) {
        thread = await thread.fork({ into: `f${depth}` });
        await thread.put({ id: `c${depth}`, update: { append: { list: [depth] } } });
      }
      for (const deep of [thread, (await open()).thread("f200")]) {
        assert.equal(await deep.count(), 201);
        const expected = Array.from({ length: 201 }, (_, n) => n);
        exact((await deep.latest())?.state, { list: expected, shared: "same" });
        exact(await idsOf(deep), expected.map((n) => `c${n}`).reverse());
        for (const n of [0, 1, 100, 199]) {
          exact((await deep.get(`c${n}`))?.state, { list: expected.slice(0, n + 1), shared: "same" });
        }
        assert.equal((await deep.get("c100"))?.thread, "f200");
      }
      exact(await idsOf(store.thread("f2")), ["c2", "c1", "c0"]);
      assert.equal(await store.thread("f200").count(), 201);
    },
  },
];
