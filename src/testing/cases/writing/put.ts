import assert from "node:assert/strict";
import type { Case } from "../../case.ts";
import { exact } from "../../support/exact.ts";
import { failsWith, isMisuse } from "../../support/failures.ts";
import { idsOf, shapedInformation, snapshot } from "../../support/snapshot.ts";

export const put: readonly Case[] = [
  {
    name: "put: after the greatest possible step, a step has to be given",
    async run({ open }) {
      const thread = (await open()).thread("t");
      await thread.put({ state: {}, step: Number.MAX_SAFE_INTEGER });
      await isMisuse(() => thread.put({ state: {} }));
      assert.equal((await thread.put({ state: {}, step: 0 })).step, 0);
      assert.equal(await thread.count(), 2);
    },
  },
  {
    name: "put: the error for a value that cannot be stored names the thread",
    async run({ open }) {
      const thread = (await open()).thread("a thread");
      const {
        message,
        thread: named,
        path,
      } = await failsWith("SERIALIZE", () => thread.put({ state: { f: () => 1 } }));
      assert.equal(named, "a thread");
      assert.equal(path, "state.f");
      assert.ok(message.startsWith("state.f: a function cannot be stored"), message);
      assert.ok(message.includes('"a thread"'), message);
    },
  },
  {
    name: "put: put returns metadata without the state, with the documented defaults",
    async run({ open, clock }) {
      const store = await open();
      const first = shapedInformation(await store.thread("t").put({ state: { n: 1 } }));
      assert.ok(first.id.length > 0);
      assert.ok(Number.isSafeInteger(first.seq));
      exact(first, {
        id: first.id,
        thread: "t",
        namespace: [],
        seq: first.seq,
        parent: null,
        step: 0,
        source: "loop",
        node: null,
        run: null,
        workflow: null,
        label: "",
        createdAt: clock.now(),
        stateVersion: first.stateVersion,
        metadata: {},
        pending: 0,
        waiting: 0,
      });
      const whole = await store.thread("t").get(first.id);
      exact(
        [whole?.state, whole?.path, whole?.next, whole?.completed, whole?.interrupts, whole?.barriers],
        [{ n: 1 }, [], [], [], [], []],
      );
    },
  },
  {
    name: "put: a child takes step + 1, workflow, run, stateVersion and path from its parent, and nothing else",
    async run({ open }) {
      const thread = (await open()).thread("t");
      const parent = await thread.put({
        state: { n: 1 },
        step: 7,
        source: "input",
        node: "plan",
        next: ["act"],
        completed: ["plan"],
        interrupts: [{ id: "i", node: "act", value: 1 }],
        barriers: [{ node: "join", arrived: ["plan"] }],
        run: "r",
        workflow: "w",
        label: "l",
        stateVersion: 3,
        metadata: { a: 1 },
      });
      const child = shapedInformation(await thread.put({ state: { n: 2 }, node: "act" }));
      exact(
        [child.parent, child.step, child.source, child.node, child.run, child.workflow, child.label],
        [parent.id, 8, "loop", "act", "r", "w", ""],
      );
      exact([child.stateVersion, child.metadata, child.pending, child.waiting], [3, {}, 0, 0]);
      const whole = await thread.get(child.id);
      exact(
        [whole?.path, whole?.next, whole?.completed, whole?.interrupts, whole?.barriers],
        [["plan", "act"], [], [], [], []],
      );
      const still = await thread.put({ state: { n: 3 } });
      exact((await thread.get(still.id))?.path, ["plan", "act"], "a path without a new node");
    },
  },
  {
    name: "put: given fields win over the defaults, null and a smaller step included",
    async run({ open }) {
      const thread = (await open()).thread("t");
      await thread.put({ state: 1 as never, step: 5, run: "r", workflow: "w", stateVersion: 4, node: "a" });
      const second = await thread.put({
        state: 2 as never,
        step: -1,
        run: null,
        workflow: null,
        stateVersion: 0,
        path: ["x"],
        createdAt: 12,
        source: "update",
      });
      exact(
        [second.step, second.run, second.workflow, second.stateVersion, second.createdAt, second.source],
        [-1, null, null, 0, 12, "update"],
      );
      exact((await thread.get(second.id))?.path, ["x"]);
      for (const step of [Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 0]) {
        assert.equal((await thread.put({ state: 3 as never, step })).step, step);
      }
    },
  },
  {
    name: "put: a string in next is short for { node }; tasks, arguments, interrupts and barriers come back exact",
    async run({ open }) {
      const thread = (await open()).thread("t");
      const at = await thread.put({
        state: {},
        next: ["a", { node: "b" }, { node: "b", task: "b:1", arg: { big: 18446744073709551615n, at: new Date(5) } }],
        completed: ["x", "y"],
        interrupts: [{ id: "i1", node: "b", value: new Map([["ask", undefined]]) }],
        barriers: [{ node: "join", arrived: ["a", "b"] }],
        metadata: { tags: ["one", { two: null }], text: "é" },
      });
      assert.equal(at.pending, 3);
      assert.equal(at.waiting, 1);
      const whole = await thread.get(at.id);
      exact(whole?.next, [
        { node: "a" },
        { node: "b" },
        { node: "b", task: "b:1", arg: { big: 18446744073709551615n, at: new Date(5) } },
      ]);
      exact(whole?.completed, ["x", "y"]);
      exact(whole?.interrupts, [{ id: "i1", node: "b", value: new Map([["ask", undefined]]) }]);
      exact(whole?.barriers, [{ node: "join", arrived: ["a", "b"] }]);
      exact(whole?.metadata, { tags: ["one", { two: null }], text: "é" });
    },
  },
  {
    name: "put: a put without a parent follows the head; with a parent it branches; with null it is a root",
    async run({ open }) {
      const thread = (await open()).thread("t");
      const a = await thread.put({ state: { n: 1 } });
      const b = await thread.put({ state: { n: 2 } });
      const branch = await thread.put({ state: { n: 3 } }, { parent: a.id });
      const after = await thread.put({ state: { n: 4 } });
      const root = await thread.put({ state: { n: 5 } }, { parent: null });
      exact([a.parent, b.parent, branch.parent, after.parent, root.parent], [null, a.id, a.id, branch.id, null]);
      exact([a.step, b.step, branch.step, after.step, root.step], [0, 1, 1, 2, 0]);
      exact(await idsOf(thread), [root.id, after.id, branch.id, b.id, a.id]);
      assert.equal((await thread.latest())?.id, root.id);
    },
  },
  {
    name: "put: an unknown parent is NOT_FOUND and nothing is written",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      await failsWith("NOT_FOUND", () => thread.put({ state: {} }, { parent: "nope" }));
      assert.equal(await thread.latest(), undefined);
      const nested = await store.thread("t", { namespace: ["sub"] }).put({ state: { n: 0 }, id: "nested" });
      await thread.put({ state: { n: 1 } });
      const before = await snapshot(store, "t");
      await failsWith("NOT_FOUND", () => thread.put({ state: {} }, { parent: "nope" }));
      await failsWith("NOT_FOUND", () => thread.put({ state: {} }, { parent: nested.id }));
      await failsWith("NOT_FOUND", () => thread.put({ update: { set: { a: 1 } } }, { parent: "nope" }));
      exact(await snapshot(store, "t"), before);
    },
  },
  {
    name: "put: expect compares with the head, null means empty, and a conflict writes nothing",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      await failsWith("CONFLICT", () => thread.put({ state: {} }, { expect: "anything" }));
      const a = await thread.put({ state: { n: 1 } }, { expect: null });
      await failsWith("CONFLICT", () => thread.put({ state: {} }, { expect: null }));
      const b = await thread.put({ state: { n: 2 } }, { expect: a.id });
      const before = await snapshot(store, "t");
      const error = await failsWith("CONFLICT", () => thread.put({ state: {} }, { expect: a.id }));
      assert.equal(error.thread, "t");
      await failsWith("CONFLICT", () => thread.put({ update: { set: { n: 9 } } }, { expect: "nope" }));
      exact(await snapshot(store, "t"), before);
      const branch = await thread.put({ state: { n: 3 } }, { expect: b.id, parent: a.id });
      assert.equal(branch.parent, a.id);
      await store.thread("t", { namespace: ["sub"] }).put({ state: {} }, { expect: null });
      await thread.put({ state: { n: 4 } }, { expect: branch.id });
    },
  },
  {
    name: "put: a conflict is found before an unknown parent",
    async run({ open }) {
      const thread = (await open()).thread("t");
      await thread.put({ state: {} });
      await failsWith("CONFLICT", () => thread.put({ state: {} }, { expect: "nope", parent: "nope" }));
    },
  },
  {
    name: "put: commit order makes the head, not the step, the clock or the id",
    async run({ open, clock }) {
      const thread = (await open()).thread("t");
      await thread.put({ state: { n: 1 }, id: "zzz", step: 10, createdAt: clock.now() + 1000 });
      clock.advance(-60_000);
      const last = await thread.put({ state: { n: 2 }, id: "aaa", step: 3 });
      assert.equal((await thread.latest())?.id, "aaa");
      assert.equal((await thread.put({ state: { n: 3 } })).parent, last.id);
    },
  },
  {
    name: "put: seq increases over all namespaces of a thread, and a parent's is smaller than its child's",
    async run({ open }) {
      const store = await open();
      const namespaces = [[], ["a"], ["a", "b"], [], ["b"], ["a"], []];
      let last = Number.NEGATIVE_INFINITY;
      for (const namespace of namespaces) {
        const thread = store.thread("t", { namespace });
        const parent = await thread.latest();
        const { seq } = await thread.put({ state: {} });
        assert.ok(seq > last, `${seq} comes after ${last}`);
        assert.ok(parent === undefined || parent.seq < seq);
        last = seq;
      }
    },
  },
  {
    name: "put: one id in two threads and two namespaces is four checkpoints",
    async run({ open }) {
      const store = await open();
      const places = ["a", "b"].flatMap((id) => [[], ["sub"]].map((namespace) => store.thread(id, { namespace })));
      for (const [n, thread] of places.entries()) await thread.put({ id: "same", state: { n } });
      for (const [n, thread] of places.entries()) exact((await thread.get("same"))?.state, { n });
      for (const thread of places) assert.equal(await thread.count(), 1);
    },
  },
];
