import assert from "node:assert/strict";
import type { Write } from "../../../model/checkpoint.ts";
import type { Case } from "../../case.ts";
import { exact } from "../../support/exact.ts";
import { isMisuse } from "../../support/failures.ts";
import { collect } from "../../support/snapshot.ts";

const brief = (writes: readonly Write[]): unknown[] =>
  writes.map(({ task, index, channel, value }) => [task, index, channel, value]);
const result = (answer: { stored: number; ignored: number }): number[] => [answer.stored, answer.ignored];

export const writes: readonly Case[] = [
  {
    name: "writes: writes are kept against a checkpoint, exactly, with the index of their position",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      await thread.put({ id: "a", state: {} });
      const value = { big: 2n ** 80n, map: new Map([[1, undefined]]), bytes: new Uint8Array([1]) };
      const answer = await thread.putWrites("a", {
        task: "t1",
        node: "act",
        writes: [
          { channel: "x", value },
          { channel: "y", value: undefined },
          { channel: "z", value: null, index: 7 },
          { channel: "w", value: "last" },
        ],
      });
      exact(result(answer), [4, 0]);
      for (const reader of [thread, (await open()).thread("t")]) {
        const read = await reader.writes("a");
        exact(brief(read), [
          ["t1", 0, "x", value],
          ["t1", 1, "y", undefined],
          ["t1", 3, "w", "last"],
          ["t1", 7, "z", null],
        ]);
        assert.ok(read.every(({ node }) => node === "act"));
      }
    },
  },
  {
    name: "writes: a repeated data write is ignored, a repeated control write replaces",
    async run({ open }) {
      const thread = (await open()).thread("t");
      await thread.put({ id: "a", state: {} });
      const data = (value: unknown) => thread.putWrites("a", { task: "t", writes: [{ channel: "c", value }] });
      exact(result(await data(1)), [1, 0]);
      exact(result(await data(2)), [0, 1]);
      for (const index of [-1, -2, -3, -4]) {
        const control = (value: unknown) =>
          thread.putWrites("a", { task: "t", writes: [{ channel: "control", value, index }] });
        exact(result(await control("first")), [1, 0]);
        exact(result(await control(`second ${index}`)), [1, 0]);
      }
      const mixed = await thread.putWrites("a", {
        task: "t",
        writes: [
          { channel: "c", value: 3 },
          { channel: "c", value: 4 },
          { channel: "error", value: "new", index: -1 },
        ],
      });
      exact(result(mixed), [2, 1]);
      exact(brief(await thread.writes("a")), [
        ["t", -4, "control", "second -4"],
        ["t", -3, "control", "second -3"],
        ["t", -2, "control", "second -2"],
        ["t", -1, "error", "new"],
        ["t", 0, "c", 1],
        ["t", 1, "c", 4],
      ]);
    },
  },
  {
    name: "writes: writes come in bytewise order of task, then by index",
    async run({ open }) {
      const thread = (await open()).thread("t");
      await thread.put({ id: "a", state: {} });
      const tasks = ["b", "a", "ab", "B", "é", "z", "10", "2", "\u{1f600}", "\uffee", "a\u0301"];
      for (const task of tasks) {
        const writing = [10, 9, -1, 2].map((index) => ({ channel: "c", value: index, index }));
        await thread.putWrites("a", { task, writes: writing });
      }
      const ordered = [...tasks].sort((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)));
      exact(
        brief(await thread.writes("a")),
        ordered.flatMap((task) => [-1, 2, 9, 10].map((index) => [task, index, "c", index])),
      );
    },
  },
  {
    name: "writes: writes may come before their checkpoint, and make no thread",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      await thread.putWrites("soon", { task: "t", writes: [{ channel: "c", value: "early" }] });
      exact(await collect(store.threads()), []);
      assert.equal(await thread.latest(), undefined);
      assert.equal(await thread.count(), 0);
      exact(brief(await thread.writes("soon")), [["t", 0, "c", "early"]]);
      await thread.put({ id: "soon", state: {} }, { expect: null });
      exact(brief(await thread.writes("soon")), [["t", 0, "c", "early"]]);
      exact(brief((await thread.tuple("soon"))?.writes ?? []), [["t", 0, "c", "early"]]);
    },
  },
  {
    name: "writes: writes are deleted with their checkpoint, and do not return with its id",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      for (const id of ["a", "b", "c"]) {
        await thread.put({ id, state: { id } });
        await thread.putWrites(id, { task: "t", writes: [{ channel: "c", value: id }] });
      }
      await thread.deleteCheckpoints(["b"]);
      exact(await thread.writes("b"), []);
      exact(brief(await thread.writes("a")), [["t", 0, "c", "a"]]);
      await thread.put({ id: "b", state: { again: true } });
      exact(await thread.writes("b"), []);
      exact(result(await thread.putWrites("b", { task: "t", writes: [{ channel: "c", value: "new" }] })), [1, 0]);
      await thread.prune({ keepLast: 1 });
      exact(await thread.writes("a"), []);
      exact(brief(await thread.writes("b")), [["t", 0, "c", "new"]]);
      await thread.putWrites("orphan", { task: "t", writes: [{ channel: "c", value: 1 }] });
      await thread.delete();
      exact([await thread.writes("b"), await thread.writes("orphan")], [[], []]);
      await thread.put({ id: "b", state: {} });
      exact(await thread.writes("b"), []);
    },
  },
  {
    name: "writes: delete removes the writes of a thread that never had a checkpoint",
    async run({ open }) {
      const thread = (await open()).thread("t");
      await thread.putWrites("a", { task: "t", writes: [{ channel: "c", value: 1 }] });
      await thread.delete();
      exact(await thread.writes("a"), []);
      await thread.put({ id: "a", state: {} });
      exact(await thread.writes("a"), []);
    },
  },
  {
    name: "writes: compact drops writes without a checkpoint that are older than 24 hours, and no others",
    async run({ open, clock }) {
      const store = await open();
      const write = { task: "t", writes: [{ channel: "c", value: 1 }] };
      const thread = store.thread("t");
      await thread.put({ id: "there", state: {} });
      await thread.putWrites("there", write);
      await thread.putWrites("old", write);
      await store.thread("bare").putWrites("old", write);
      clock.advance(23 * 3_600_000);
      await thread.putWrites("young", write);
      await store.thread("bare").putWrites("young", write);
      await store.compact();
      for (const id of ["there", "old", "young"]) assert.equal((await thread.writes(id)).length, 1, id);
      clock.advance(2 * 3_600_000);
      await store.compact();
      for (const [id, count] of [
        ["there", 1],
        ["old", 0],
        ["young", 1],
      ] as const) {
        assert.equal((await thread.writes(id)).length, count, id);
      }
      assert.equal((await store.thread("bare").writes("old")).length, 0);
      assert.equal((await store.thread("bare").writes("young")).length, 1);
    },
  },
  {
    name: "writes: writes are kept apart by thread, namespace, checkpoint and task",
    async run({ open }) {
      const store = await open();
      const places = ["t", "u"].flatMap((id) =>
        [[], ["a"], ["a", "b"]].map((namespace) => store.thread(id, { namespace })),
      );
      for (const [n, thread] of places.entries()) {
        for (const id of ["c1", "c2"]) {
          await thread.put({ id, state: {} });
          for (const task of ["x", "y"]) {
            const answer = await thread.putWrites(id, { task, writes: [{ channel: "c", value: [n, id, task] }] });
            exact(result(answer), [1, 0]);
          }
        }
      }
      for (const [n, thread] of places.entries()) {
        for (const id of ["c1", "c2"]) {
          exact(brief(await thread.writes(id)), [
            ["x", 0, "c", [n, id, "x"]],
            ["y", 0, "c", [n, id, "y"]],
          ]);
        }
      }
    },
  },
  {
    name: "writes: a call may save many writes or none, and many calls add up",
    async run({ open }) {
      const thread = (await open()).thread("t");
      await thread.put({ id: "a", state: {} });
      exact(result(await thread.putWrites("a", { task: "none", writes: [] })), [0, 0]);
      const hundred = Array.from({ length: 100 }, (_, value) => ({ channel: "c", value }));
      exact(result(await thread.putWrites("a", { task: "one", writes: hundred })), [100, 0]);
      for (let index = 0; index < 100; index++) {
        await thread.putWrites("a", { task: "many", writes: [{ channel: "c", value: index, index: 99 - index }] });
      }
      const read = await thread.writes("a");
      assert.equal(read.length, 200);
      exact(
        read.filter(({ task }) => task === "many").map(({ value }) => value),
        Array.from({ length: 100 }, (_, index) => 99 - index),
      );
    },
  },
  {
    name: "writes: a missing checkpoint id, a missing task or a bad index is a TypeError",
    async run({ open }) {
      const thread = (await open()).thread("t");
      const write = { channel: "c", value: 1 };
      await isMisuse(() => thread.putWrites(undefined as never, { task: "t", writes: [write] }));
      await isMisuse(() => thread.putWrites("", { task: "t", writes: [write] }));
      await isMisuse(() => thread.putWrites("a", { task: undefined as never, writes: [write] }));
      await isMisuse(() => thread.putWrites("a", { task: "t", writes: [{ ...write, index: 0.5 }] }));
      await isMisuse(() => thread.putWrites("a", { task: "t", writes: "none" as never }));
      await isMisuse(() => thread.writes(undefined as never));
      exact(await thread.writes("a"), []);
    },
  },
  {
    name: "writes: a checkpoint put again after a delete has no writes, and a fork keeps the writes it saw",
    async run({ open }) {
      const thread = (await open()).thread("t");
      const write = (value: number) => ({ task: "k", writes: [{ channel: "c", value }] });
      await thread.put({ id: "a", state: {} });
      await thread.put({ id: "x", state: {} });
      await thread.putWrites("x", write(1));
      const early = await thread.fork({ into: "early" });
      await thread.deleteCheckpoints(["x"]);
      await thread.put({ id: "x", state: {} });
      exact(brief(await thread.writes("x")), []);
      exact(result(await thread.putWrites("x", write(2))), [1, 0]);
      exact(result(await thread.putWrites("x", write(3))), [0, 1]);
      exact(brief(await thread.writes("x")), [["k", 0, "c", 2]]);
      const late = await thread.fork({ into: "late" });
      await thread.deleteCheckpoints(["x"]);
      await thread.put({ id: "x", state: {} });
      await thread.deleteCheckpoints(["x"]);
      exact(brief(await thread.writes("x")), []);
      exact(brief(await early.writes("x")), [["k", 0, "c", 1]]);
      exact(brief(await late.writes("x")), [["k", 0, "c", 2]]);
    },
  },
  {
    name: "writes: a compaction keeps the writes that a fork has from a thread that no longer shows the checkpoint",
    async run({ open, clock }) {
      const store = await open();
      const thread = store.thread("t");
      for (const id of ["a", "b"]) await thread.put({ id, state: {} });
      const between = await thread.fork({ into: "between" });
      await between.putWrites("a", { task: "k", writes: [{ channel: "c", value: 1 }] });
      const fork = await between.fork({ into: "fork" });
      await between.deleteCheckpoints(["a"]);
      for (const act of [() => store.compact(), () => between.delete(), () => thread.delete()]) {
        await act();
        clock.advance(25 * 3_600_000);
        await store.compact();
        exact(brief(await fork.writes("a")), [["k", 0, "c", 1]]);
      }
    },
  },
  {
    name: "writes: a compaction removes the writes of a deleted checkpoint although its id was put again, and keeps early ones",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      for (const id of ["a", "b", "c"]) await thread.put({ id, state: {} });
      await thread.putWrites("a", { task: "k", writes: [{ channel: "c", value: "x".repeat(10_000) }] });
      const fork = await thread.fork({ into: "fork" });
      await thread.deleteCheckpoints(["a", "b"]);
      await thread.put({ id: "a", state: {} });
      for (const id of ["a", "b"]) await thread.putWrites(id, { task: "k", writes: [{ channel: "c", value: id }] });
      await fork.delete();
      await store.compact();
      for (const id of ["a", "b"]) exact(brief(await thread.writes(id)), [["k", 0, "c", id]]);
      assert.ok((await store.measure()).bytes.writes < 1_000);
    },
  },
];
