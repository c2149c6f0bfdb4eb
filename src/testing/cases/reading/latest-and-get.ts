import assert from "node:assert/strict";
import type { Case } from "../../case.ts";
import { exact } from "../../support/exact.ts";
import { failsWith } from "../../support/failures.ts";
import { idsOf, shaped } from "../../support/snapshot.ts";

export const latestAndGet: readonly Case[] = [
  {
    name: "latest and get: an absent checkpoint is undefined, and reading makes nothing",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("nobody");
      const answers = [
        await thread.latest(),
        await thread.latest({ by: "step" }),
        await thread.get("x"),
        await thread.get({ step: 0 }),
        await thread.tuple(),
        await thread.tuple("x"),
      ];
      exact(answers, Array(6).fill(undefined));
      exact(await idsOf(thread), []);
      exact(await thread.writes("x"), []);
      assert.equal(await thread.count(), 0);
      exact(await thread.namespaces(), []);
      for await (const info of store.threads()) assert.fail(`${info.id} is listed`);
      await thread.put({ id: "x", state: {} });
      exact([await thread.get("y"), await thread.get({ step: 9 }), await thread.tuple("y")], Array(3).fill(undefined));
      const nested = store.thread("nobody", { namespace: ["sub"] });
      exact([await nested.latest(), await nested.get("x")], [undefined, undefined]);
    },
  },
  {
    name: "latest: latest by step has the greatest step, and among equals is the last committed",
    async run({ open }) {
      const thread = (await open()).thread("t");
      await thread.put({ id: "five", state: { n: 1 }, step: 5 });
      await thread.put({ id: "five again", state: { n: 2 }, step: 5 });
      await thread.put({ id: "minus", state: { n: 3 }, step: -3 });
      assert.equal((await thread.latest())?.id, "minus");
      assert.equal((await thread.latest({ by: "step" }))?.id, "five again");
      await thread.deleteCheckpoints(["five again"]);
      assert.equal((await thread.latest({ by: "step" }))?.id, "five");
      await thread.deleteCheckpoints(["five"]);
      assert.equal((await thread.latest({ by: "step" }))?.id, "minus");
    },
  },
  {
    name: "get: get by step finds the last committed with that step, in short and in long histories",
    async run({ open }) {
      const thread = (await open()).thread("t");
      for (let n = 0; n < 150; n++) await thread.put({ id: `c${n}`, state: { n }, step: n % 50 });
      for (const step of [0, 13, 49]) {
        const found = await thread.get({ step });
        exact([found?.id, found?.state], [`c${100 + step}`, { n: 100 + step }]);
      }
      assert.equal(await thread.get({ step: 50 }), undefined);
      assert.equal((await thread.latest({ by: "step" }))?.id, "c149");
      await thread.put({ id: "c20", state: { replaced: true }, step: 1000 });
      assert.equal((await thread.latest({ by: "step" }))?.id, "c20");
      exact((await thread.get({ step: 1000 }))?.state, { replaced: true });
      assert.equal((await thread.get({ step: 20 }))?.id, "c120");
    },
  },
  {
    name: "get: get, latest and a reopened store give equal checkpoints",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t", { namespace: ["a", "b"] });
      await thread.put({ state: { n: 1 }, node: "x" });
      const { id } = await thread.put({ state: { n: 2 }, node: "y", next: ["z"], metadata: { k: "v" } });
      const read = await thread.latest();
      assert.ok(read !== undefined);
      exact(await thread.get(id).then((one) => one && shaped(one)), shaped(read));
      const again = (await open()).thread("t", { namespace: ["a", "b"] });
      exact(await again.latest().then((one) => one && shaped(one)), shaped(read));
      exact(read.namespace, ["a", "b"]);
    },
  },
  {
    name: "tuple: a tuple has the checkpoint, its parent and its writes; without an id, those of the head",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t", { namespace: ["sub"] });
      await thread.put({ id: "a", state: { n: 1 } });
      await thread.put({ id: "b", state: { n: 2 } });
      await thread.putWrites("b", { task: "t", node: "x", writes: [{ channel: "c", value: 1 }] });
      const tuple = await thread.tuple("b");
      exact(tuple?.checkpoint.state, { n: 2 });
      exact(tuple?.parent && { ...tuple.parent }, { thread: "t", namespace: ["sub"], id: "a" });
      exact(
        tuple?.writes.map(({ task, node, index, channel, value }) => [task, node, index, channel, value]),
        [["t", "x", 0, "c", 1]],
      );
      assert.equal((await thread.tuple("a"))?.parent, null);
      exact((await thread.tuple("a"))?.writes, []);
      assert.equal((await thread.tuple())?.checkpoint.id, "b");
    },
  },
  {
    name: "latest and get: a second store sees what the first one committed, replaced and deleted",
    requires: ["processes"],
    async run({ open }) {
      const first = (await open()).thread("t");
      const second = (await open()).thread("t");
      assert.equal(await second.latest(), undefined);
      for (let n = 0; n < 5; n++) {
        await first.put({ id: `a${n}`, state: { n } });
        exact((await second.latest())?.state, { n });
        const { parent } = await second.put({ id: `b${n}`, update: { set: { by: "second" } } });
        assert.equal(parent, `a${n}`);
        exact((await first.latest())?.state, { n, by: "second" });
      }
      await first.put({ id: "b4", state: { replaced: true } });
      exact((await second.latest())?.state, { replaced: true });
      await second.delete();
      assert.equal(await first.latest(), undefined);
      await first.put({ id: "b4", state: { reborn: true } });
      exact((await second.get("b4"))?.state, { reborn: true });
      assert.equal(await second.get("a0"), undefined);
    },
  },
  {
    name: "get: an unknown id in history and diff is NOT_FOUND",
    async run({ open }) {
      const thread = (await open()).thread("t");
      await thread.put({ id: "a", state: {} });
      await failsWith("NOT_FOUND", () => idsOf(thread, { before: "nope" }));
      await failsWith("NOT_FOUND", () => thread.diff("a", "nope"));
      await failsWith("NOT_FOUND", () => thread.diff("nope", "a"));
    },
  },
];
