import assert from "node:assert/strict";
import type { Where } from "../../../model/attributes.ts";
import type { Case } from "../../case.ts";
import { exact } from "../../support/exact.ts";
import { failsWith } from "../../support/failures.ts";
import { collect } from "../../support/snapshot.ts";

export const attributes: readonly Case[] = [
  {
    name: "attributes: a put merges them, setAttributes changes them without a checkpoint, null removes one",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      exact(await thread.attributes(), {});
      await failsWith("NOT_FOUND", () => thread.setAttributes({ tenant: "acme" }));
      await thread.put({ state: {}, attributes: { tenant: "acme", cost: 1.5, open: true } });
      exact(await thread.attributes(), { tenant: "acme", cost: 1.5, open: true });
      await thread.put({ state: {}, attributes: { cost: 2, open: null } });
      exact(await thread.attributes(), { tenant: "acme", cost: 2 });
      await thread.setAttributes({ tenant: null, __proto__x: "x" });
      exact(await thread.attributes(), { cost: 2, __proto__x: "x" });
      assert.equal(await thread.count(), 2);
      const [info] = await collect(store.threads());
      exact(info?.attributes, { cost: 2, __proto__x: "x" });
      const fork = await thread.fork({ into: "f" });
      await thread.setAttributes({ cost: 3 });
      exact(await fork.attributes(), { cost: 2, __proto__x: "x" });
      await thread.delete();
      exact(await thread.attributes(), {});
    },
  },
  {
    name: "attributes: every condition finds exactly the threads that meet it",
    async run({ open }) {
      const store = await open();
      const values = { a: -1.5, b: 0, c: 3, d: 1e300, e: "", f: "ab", g: "abc\u0001", h: "b", i: true, j: false };
      for (const [id, v] of Object.entries(values)) await store.thread(id).put({ state: {}, attributes: { v } });
      await store.thread("none").put({ state: {} });
      const find = async (condition: Where[string]): Promise<string> => {
        const where = { v: condition };
        const newest = await collect(store.threads({ order: "updated", where }));
        const byId = await collect(store.threads({ where }));
        const ids = byId.map(({ id }) => id).join("");
        assert.equal(
          newest
            .map(({ id }) => id)
            .toSorted()
            .join(""),
          ids,
        );
        return ids;
      };
      exact(await find(0), "b");
      exact(await find(-0), "b");
      exact(await find("ab"), "f");
      exact(await find(true), "i");
      exact(await find({ ne: "ab" }), "abcdeghij");
      exact(await find({ gt: 0 }), "cd");
      exact(await find({ gte: 0, lt: 1e300 }), "bc");
      exact(await find({ lte: 0 }), "ab");
      exact(await find({ gt: "ab" }), "gh");
      exact(await find({ gte: "", lt: "b" }), "efg");
      exact(await find({ prefix: "ab" }), "fg");
      exact(await find({ prefix: "" }), "efgh");
      exact(await find({ in: [3, "b", false, "absent"] }), "chj");
      exact(await find({ in: [] }), "");
      exact(await find({ gt: false }), "i");
      exact(await find({ gt: 0, in: [3, -1.5] }), "c");
    },
  },
  {
    name: "attributes: bundles carry them, and a thread without checkpoints has none",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      await thread.putWrites("early", { task: "x", writes: [{ channel: "c", value: 1 }] });
      await failsWith("NOT_FOUND", () => thread.setAttributes({ tenant: "acme" }));
      await thread.put({ id: "a", state: {}, attributes: { tenant: "acme", cost: 1.5 } });
      const lines = await collect(store.export());
      await thread.deleteCheckpoints(["a"]);
      exact(await thread.attributes(), {});
      await failsWith("NOT_FOUND", () => thread.setAttributes({ tenant: "acme" }));
      await store.import(lines);
      exact(await thread.attributes(), { tenant: "acme", cost: 1.5 });
      const where = { tenant: "acme", cost: { gt: 1 } };
      exact((await collect(store.threads({ where }))).length, 1);
      // A thread that is there keeps its own.
      await thread.setAttributes({ cost: 3, tenant: null });
      await store.import(lines);
      exact(await thread.attributes(), { cost: 3 });
      assert.deepEqual((await store.verify()).faults, []);
    },
  },
  {
    name: "attributes: wrong names, values and conditions are a TypeError before any I/O",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      const wrong: readonly unknown[] = [
        null,
        [],
        { "": 1 },
        { a: undefined },
        { a: Number.NaN },
        { a: Number.POSITIVE_INFINITY },
        { a: 1n },
        { a: {} },
        { a: "x".repeat(257) },
        { a: "\0" },
        { a: "\ud800" },
        { ["n".repeat(65)]: 1 },
        { "a\n": 1 },
        Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`a${n}`, n])),
      ];
      for (const one of wrong) {
        await assert.rejects(thread.put({ state: {}, attributes: one as never }), TypeError);
        await assert.rejects(thread.setAttributes(one as never), TypeError);
      }
      for (const where of [
        { a: null },
        { a: {} },
        { a: { near: 1 } },
        { a: { in: 1 } },
        { a: { prefix: 1 } },
        { "": 1 },
      ]) {
        assert.throws(() => store.threads({ where: where as never }), TypeError);
        assert.throws(() => store.interrupts({ where: where as never }), TypeError);
      }
      const many = Object.fromEntries(Array.from({ length: 16 }, (_, number) => [`a${number}`, number]));
      await thread.put({ state: {}, attributes: many });
      await assert.rejects(thread.setAttributes({ more: 1 }), TypeError);
      await thread.setAttributes({ more: 1, a0: null });
      assert.equal(Object.keys(await thread.attributes()).length, 16);
      assert.equal(await thread.count(), 1);
    },
  },
];
