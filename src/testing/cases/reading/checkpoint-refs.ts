import assert from "node:assert/strict";
import type { CheckpointRef } from "../../../model/interface/options.ts";
import type { Case } from "../../case.ts";
import { exact } from "../../support/exact.ts";
import { failsWith, isMisuse } from "../../support/failures.ts";
import { collect } from "../../support/snapshot.ts";

export const checkpointRefs: readonly Case[] = [
  {
    name: "refs: an id, a step, a seq and a label name the same checkpoint in every call",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      await thread.put({ id: "a", state: { n: 1 } });
      const b = await thread.put({ id: "b", state: { n: 2 }, label: "here" });
      await thread.put({ id: "c", state: { n: 3 } });
      await thread.putWrites("b", { task: "t1", writes: [{ channel: "x", value: 1 }] });
      for (const ref of ["b", { step: 1 }, { seq: b.seq }, { label: "here" }] as CheckpointRef[]) {
        assert.equal((await thread.get(ref))?.id, "b");
        assert.equal((await thread.tuple(ref))?.checkpoint.id, "b");
        assert.equal((await thread.tuple(ref))?.writes.length, 1);
        assert.equal((await thread.writes(ref)).length, 1);
        assert.equal((await thread.sizeOf(ref)).inherited, false);
        exact(
          (await collect(thread.history({ before: ref }))).map(({ id }) => id),
          ["a"],
        );
        exact(await thread.diff("a", ref), [{ path: ["n"], kind: "changed", before: 1, after: 2 }]);
        assert.equal((await (await thread.fork({ at: ref })).latest())?.id, "b");
        assert.equal((await thread.put({ state: { n: 4 } }, { parent: ref })).parent, "b");
      }
      await thread.label({ seq: b.seq }, "there");
      assert.equal((await thread.get({ label: "there" }))?.id, "b");
      assert.equal(await thread.get({ label: "here" }), undefined);
    },
  },
  {
    name: "refs: a label names the last committed checkpoint that has it, of the handle's namespace",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      const nested = store.thread("t", { namespace: ["n"] });
      for (const id of ["a", "b"]) await thread.put({ id, state: { id }, label: "same" });
      await nested.put({ id: "c", state: {}, label: "same" });
      assert.equal((await thread.get({ label: "same" }))?.id, "b");
      assert.equal((await nested.get({ label: "same" }))?.id, "c");
      const puts = [
        thread.put({ id: "d", state: {}, label: "same" }),
        thread.put({ id: "e", state: {} }, { parent: { label: "same" } }),
      ];
      assert.equal((await Promise.all(puts))[1]?.parent, "d");
    },
  },
  {
    name: "refs: expect takes any name of the head, deleteCheckpoints any name of what is to go",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      const nested = store.thread("t", { namespace: ["n"] });
      await nested.put({ id: "a", state: {}, label: "x" });
      for (const id of ["a", "b", "c"]) await thread.put({ id, state: { id }, step: 1, label: "x" });
      const d = await thread.put({ id: "d", state: {}, step: 7, label: "y" });
      for (const expect of [
        "c",
        { step: 1 },
        { seq: d.seq - 1 },
        { label: "x" },
        { label: "none" },
      ] as CheckpointRef[]) {
        await failsWith("CONFLICT", () => thread.put({ state: {} }, { expect }));
        await failsWith("CONFLICT", () => store.thread("empty").put({ state: {} }, { expect }));
      }
      let head = d;
      for (const name of ["step", "seq", "label"] as const) {
        const expect = { [name]: head[name] } as unknown as CheckpointRef;
        head = await thread.put({ state: {}, step: head.step + 1, label: `after ${name}` }, { expect });
      }
      const mixed: CheckpointRef[] = [{ label: "x" }, { step: 1 }, "a", { seq: 999 }, { label: "none" }, "z"];
      assert.equal(await thread.deleteCheckpoints(mixed), 2);
      assert.equal(await thread.get("a"), undefined);
      assert.equal(await thread.get("c"), undefined);
      assert.equal((await thread.get({ label: "x" }))?.id, "b");
      assert.equal(await nested.count(), 1);
    },
  },
  {
    name: "refs: a checkpoint that is not there is undefined to a read, and NOT_FOUND elsewhere",
    async run({ open }) {
      const thread = (await open()).thread("t");
      await thread.put({ id: "a", state: {} });
      for (const ref of ["z", { step: 9 }, { seq: 999 }, { label: "none" }] as CheckpointRef[]) {
        assert.equal(await thread.get(ref), undefined);
        assert.equal(await thread.tuple(ref), undefined);
        exact(await thread.writes(ref), []);
        await failsWith("NOT_FOUND", () => thread.put({ state: {} }, { parent: ref }));
        await failsWith("NOT_FOUND", () => thread.fork({ at: ref }));
        await failsWith("NOT_FOUND", () => thread.label(ref, "x"));
        await failsWith("NOT_FOUND", () => thread.diff("a", ref));
        await failsWith("NOT_FOUND", () => thread.sizeOf(ref));
      }
      await failsWith("NOT_FOUND", () => collect(thread.history({ before: { label: "none" } })));
      assert.equal(await thread.count(), 1);
    },
  },
  {
    name: "refs: diff compares with a checkpoint of another thread",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      await thread.put({ id: "a", state: { n: 1 } });
      await store.thread("other").put({ state: { n: 2 }, label: "x" });
      exact(await thread.diff("a", { thread: "other", at: { label: "x" } }), [
        { path: ["n"], kind: "changed", before: 1, after: 2 },
      ]);
      await failsWith("NOT_FOUND", () => thread.diff("a", { thread: "nobody", at: { step: 0 } }));
    },
  },
  {
    name: "refs: anything but one of id, step, seq and label is a TypeError",
    async run({ open }) {
      const thread = (await open()).thread("t");
      for (const ref of [{}, { step: 1, seq: 1 }, { label: "" }, { steps: 1 }, { step: "1" }, { seq: -1 }, 5, null]) {
        const wrong = ref as CheckpointRef;
        await isMisuse(() => thread.get(wrong), `get ${JSON.stringify(ref)}`);
        await isMisuse(() => thread.writes(wrong), `writes ${JSON.stringify(ref)}`);
        await isMisuse(() => thread.label(wrong, "x"), `label ${JSON.stringify(ref)}`);
        if (ref !== null) await isMisuse(() => thread.put({ state: {} }, { parent: wrong }), "a parent");
        if (ref !== null) await isMisuse(() => thread.put({ state: {} }, { expect: wrong }), "an expected head");
        await isMisuse(() => thread.deleteCheckpoints([wrong]), "deleteCheckpoints");
        await isMisuse(() => thread.fork({ at: wrong }), "fork");
      }
      await isMisuse(() => thread.putWrites({ step: 1 } as never, { task: "t", writes: [] }), "putWrites");
    },
  },
];
