import assert from "node:assert/strict";
import { type Mailbox, mailboxOf } from "../../../api/mailbox.ts";
import type { Case } from "../../case.ts";
import { exact } from "../../support/exact.ts";
import { failsWith, isMisuse } from "../../support/failures.ts";
import { codesOf } from "../../support/races.ts";
import { collect, idsOf } from "../../support/snapshot.ts";

const DAY = 24 * 60 * 60 * 1000;

async function pendingIds<State>(mailbox: Mailbox<State>): Promise<readonly string[]> {
  return (await mailbox.pending()).map(({ id }) => id);
}

/** Messages to a thread, sent by anybody and used up in the commit that acts on them. */
export const mailbox: readonly Case[] = [
  {
    name: "mailbox: messages are read in the order they were sent, with their payloads, from any store",
    async run({ open, clock }) {
      const store = await open();
      const thread = store.thread("t");
      await thread.put({ id: "a", state: {} });
      const box = mailboxOf(thread);
      exact(await box.pending(), []);
      const payload = { when: new Date(5), big: 7n, nothing: undefined };
      exact(await box.send({ id: "z", kind: "signal", name: "paid", payload }), { id: "z", stored: true, used: false });
      clock.advance(-50);
      await Promise.all(["y", "x", "w"].map((id) => box.send({ id, kind: "answer", payload: id })));
      exact(await pendingIds(box), ["z", "y", "x", "w"]);
      assert.equal(box.waiting, 4);
      const [first] = await mailboxOf((await open()).thread("t")).pending();
      exact(first, { id: "z", kind: "signal", name: "paid", payload, at: clock.now() + 50 });
      const { id } = await box.send({ kind: "cancel" });
      exact((await box.pending()).at(-1), { id, kind: "cancel", name: null, payload: undefined, at: clock.now() });
      exact(await idsOf(thread), ["a"]);
    },
  },
  {
    name: "mailbox: a message of an id that the thread knows is ignored, before and after it was used",
    async run({ open }) {
      const thread = (await open()).thread("t");
      await thread.put({ state: {} });
      const box = mailboxOf(thread);
      await box.send({ id: "m", kind: "answer", payload: 1 });
      exact(await box.send({ id: "m", kind: "answer", payload: 2 }), { id: "m", stored: false, used: false });
      const twice = await Promise.all([1, 2, 3].map((payload) => box.send({ id: "n", kind: "answer", payload })));
      assert.equal(twice.filter(({ stored }) => stored).length, 1);
      exact(
        (await box.pending()).map(({ id, payload }) => [id, payload]),
        [
          ["m", 1],
          ["n", 1],
        ],
      );
      await box.put({ state: { used: true } }, { consume: ["m", "n"] });
      exact(await box.send({ id: "m", kind: "answer", payload: 3 }), { id: "m", stored: false, used: true });
      exact([await box.pending(), box.waiting], [[], 0]);
    },
  },
  {
    name: "mailbox: sending needs no lease, and a put uses messages up in its own commit or not at all",
    async run({ open, clock }) {
      const store = await open();
      const thread = store.thread("t");
      await thread.put({ id: "a", state: { n: 0 } });
      const lease = await thread.acquire({ holder: "worker", ttl: 1000 });
      const box = mailboxOf(thread);
      await box.send({ id: "m", kind: "signal", payload: 5 });
      await failsWith("BUSY", () => box.put({ state: {} }, { consume: ["m"] }));
      await failsWith("CONFLICT", () => box.put({ state: {} }, { lease, expect: "other", consume: ["m"] }));
      exact([await pendingIds(box), await idsOf(thread)], [["m"], ["a"]]);
      await box.put({ id: "b", update: { set: { n: 5 } } }, { lease, consume: ["m"] });
      exact([await pendingIds(box), (await thread.latest())?.state], [[], { n: 5 }]);
      for (const [code, id] of [
        ["CONFLICT", "m"],
        ["NOT_FOUND", "never"],
      ] as const) {
        const error = await failsWith(code, () => box.put({ state: {} }, { lease, consume: [id] }));
        assert.equal(error.thread, "t");
      }
      await lease.release();
      clock.advance(2000);
      await box.send({ id: "n", kind: "signal" });
      await failsWith("FENCED", () => box.put({ state: {} }, { lease, consume: ["n"] }));
      exact([await idsOf(thread), await pendingIds(box)], [["b", "a"], ["n"]]);
    },
  },
  {
    name: "mailbox: writes use messages up too, and discard uses them up alone",
    async run({ open }) {
      const thread = (await open()).thread("t");
      await thread.put({ id: "a", state: {} });
      const box = mailboxOf(thread);
      for (const id of ["m", "n", "o"]) await box.send({ id, kind: "answer", payload: id });
      const writes = [{ channel: "resume", value: 1, index: -4 }];
      await box.putWrites("a", { task: "t1", writes }, { consume: ["m"] });
      await failsWith("CONFLICT", () => box.putWrites("a", { task: "t2", writes }, { consume: ["n", "m"] }));
      exact(
        (await thread.writes("a")).map(({ task }) => task),
        ["t1"],
      );
      await box.discard(["o"]);
      await failsWith("CONFLICT", () => box.discard(["n", "o"]));
      exact(await pendingIds(box), ["n"]);
    },
  },
  {
    name: "mailbox: a message to a thread that does not exist is NOT_FOUND, or waits for it if it is early",
    async run({ open }) {
      const store = await open();
      const source = store.thread("source");
      await source.put({ id: "a", state: { n: 1 } });
      await failsWith("NOT_FOUND", () => mailboxOf(store.thread("t")).send({ kind: "signal" }));
      for (const id of ["put", "fork", "copy"]) {
        await mailboxOf(store.thread(id)).send({ id: "m", kind: "signal", payload: id }, { early: true });
        await mailboxOf(store.thread(id)).send({ id: "old", kind: "signal" });
        await mailboxOf(store.thread(id)).discard(["old"]);
      }
      exact(
        (await collect(store.threads())).map(({ id }) => id),
        ["source"],
      );
      await store.thread("put").put({ state: {} });
      await source.fork({ into: "fork" });
      await source.copy("copy");
      for (const id of ["put", "fork", "copy"]) {
        const box = mailboxOf(store.thread(id));
        exact([id, await pendingIds(box)], [id, ["m"]]);
        exact(await box.send({ id: "old", kind: "signal" }), { id: "old", stored: false, used: true });
        await box.put({ state: {} }, { consume: ["m"] });
      }
      exact((await store.verify()).faults, []);
    },
  },
  {
    name: "mailbox: forks and copies begin without messages, and delete removes them",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      await thread.put({ state: {} });
      await mailboxOf(thread).send({ id: "m", kind: "signal" });
      await thread.fork({ into: "fork" });
      await thread.copy("copy");
      for (const id of ["fork", "copy"]) exact(await mailboxOf(store.thread(id)).pending(), []);
      await thread.delete();
      exact(await mailboxOf(thread).pending(), []);
      await failsWith("NOT_FOUND", () => mailboxOf(thread).send({ kind: "signal" }));
      await thread.put({ state: {} });
      exact(await mailboxOf(thread).pending(), []);
      exact((await mailboxOf(thread).send({ id: "m", kind: "signal" })).stored, true);
      exact((await store.verify()).faults, []);
    },
  },
  {
    name: "mailbox: export and import take messages and the marks of used ones along",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      await thread.put({ state: {} });
      const box = mailboxOf(thread);
      for (const id of ["b", "a", "c"]) await box.send({ id, kind: "signal", name: "n", payload: new Map([[id, 1]]) });
      await box.discard(["a"]);
      const before = await box.pending();
      const bundle = await collect(store.export());
      await thread.delete();
      await box.send({ id: "early", kind: "signal" }, { early: true });
      await store.import(bundle);
      exact((await box.pending()).slice(1), before);
      exact(await pendingIds(box), ["early", "b", "c"]);
      exact(await box.send({ id: "a", kind: "signal" }), { id: "a", stored: false, used: true });
      exact((await store.import(bundle)).unchanged, 1);
      exact(await pendingIds(box), ["early", "b", "c"]);
      exact((await store.verify()).faults, []);
    },
  },
  {
    name: "mailbox: compact keeps pending messages, and marks of used ones for seven days",
    async run({ open, clock }) {
      const store = await open();
      const thread = store.thread("t");
      await thread.put({ state: {} });
      const box = mailboxOf(thread);
      for (const id of ["m", "n"]) await box.send({ id, kind: "signal" });
      await box.discard(["m"]);
      clock.advance(6 * DAY);
      await store.compact();
      exact((await box.send({ id: "m", kind: "signal" })).stored, false);
      clock.advance(2 * DAY);
      await store.compact();
      exact(await pendingIds(box), ["n"]);
      exact((await box.send({ id: "m", kind: "signal" })).stored, true);
      exact(await pendingIds(box), ["n", "m"]);
      exact((await store.verify()).faults, []);
    },
  },
  {
    name: "mailbox: of two stores that use one message up, exactly one does",
    requires: ["processes"],
    async run({ open }) {
      const stores = [await open(), await open()];
      const boxes = stores.map((store) => mailboxOf(store.thread("t")));
      await stores[0]?.thread("t").put({ state: { used: [] } });
      for (let n = 0; n < 20; n += 1) {
        const id = `m${n}`;
        const sent = await Promise.all(boxes.map((box) => box.send({ id, kind: "signal" })));
        assert.equal(sent.filter(({ stored }) => stored).length, 1);
        const outcomes = await Promise.allSettled(
          boxes.map((box) => box.put({ update: { append: { used: [id] } } }, { consume: [id] })),
        );
        exact(codesOf(outcomes), ["", "CONFLICT"]);
      }
      const latest = await stores[1]?.thread("t").latest();
      exact(
        latest?.state.used,
        Array.from({ length: 20 }, (_, n) => `m${n}`),
      );
    },
  },
  {
    name: "mailbox: messages that arrive while a holder puts are all there, once, in order for each sender",
    requires: ["processes"],
    async run({ open }) {
      const [holder, ...senders] = [await open(), await open(), await open()];
      const thread = holder?.thread("t") ?? assert.fail();
      await thread.put({ state: { used: [] } });
      const lease = await thread.acquire({ holder: "worker", ttl: 60_000 });
      const done: number[] = [];
      const sent = senders.map(async (store, sender) => {
        for (let n = 0; n < 15; n += 1) {
          await mailboxOf(store.thread("t")).send({ id: `${sender}:${n}`, kind: "signal", payload: [sender, n] });
        }
        done.push(sender);
      });
      const box = mailboxOf(thread);
      for (let last = false; ; ) {
        const messages = await box.pending();
        const used = messages.map(({ payload }) => payload);
        await box.put({ update: { append: { used } } }, { lease, consume: messages.map(({ id }) => id) });
        if (last && messages.length === 0) break;
        last = done.length === senders.length;
      }
      await Promise.all(sent);
      const used = (await thread.latest())?.state.used as [number, number][];
      for (const sender of [0, 1]) {
        exact(
          used.filter(([from]) => from === sender).map(([, n]) => n),
          Array.from({ length: 15 }, (_, n) => n),
        );
      }
      exact((await holder?.verify())?.faults, []);
    },
  },
  {
    name: "mailbox: wrong arguments are a TypeError before any I/O",
    async run({ open }) {
      const box = mailboxOf((await open()).thread("t"));
      const call = box as unknown as { [name: string]: (...given: readonly unknown[]) => Promise<unknown> };
      for (const message of [
        undefined,
        {},
        { kind: "" },
        { kind: 1 },
        { kind: "a", id: "" },
        { kind: "a", name: 1 },
        { kind: "a", other: 1 },
      ]) {
        await isMisuse(() => call["send"]?.(message), JSON.stringify(message));
      }
      await isMisuse(() => call["send"]?.({ kind: "a" }, { early: 1 }));
      await isMisuse(() => call["put"]?.({ state: {} }, {}));
      await isMisuse(() => call["put"]?.({ state: {} }, { consume: [1] }));
      await isMisuse(() => call["put"]?.({}, { consume: [] }));
      await isMisuse(() => call["putWrites"]?.("a", { task: "t", writes: [] }, { consume: "m" }));
      await isMisuse(() => call["discard"]?.("m"));
      await failsWith("SERIALIZE", () => box.send({ kind: "a", payload: () => 1 }));
      exact(await box.pending(), []);
    },
  },
];
