import assert from "node:assert/strict";
import type { Case, Free } from "../../case.ts";
import { smallPacks } from "../../support/conversation.ts";
import { exact } from "../../support/exact.ts";
import { failsWith } from "../../support/failures.ts";
import { collect, snapshot, wholeHistory } from "../../support/snapshot.ts";

/** Changes a tree in place wherever possible. */
function spoil(value: unknown): void {
  if (value instanceof Date) value.setTime(0);
  else if (value instanceof Uint8Array) value.fill(255);
  else if (value instanceof Map || value instanceof Set) value.clear();
  else if (Array.isArray(value)) {
    for (const one of value) spoil(one);
    if (!Object.isFrozen(value)) value.push("spoiled");
  } else if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    for (const one of Object.values(value)) spoil(one);
    Object.assign(value, { spoiled: true });
  }
}

const rich = (): Free => ({
  list: [{ a: [1] }],
  at: new Date(99),
  bytes: new Uint8Array([1, 2]),
  map: new Map([["k", { v: 1 }]]),
  set: new Set([1]),
});

export const capture: readonly Case[] = [
  {
    name: "capture: a lease token is captured in the call",
    async run({ open }) {
      const thread = (await open()).thread("t");
      const { epoch } = await thread.acquire({ holder: "h", ttl: 10_000 });
      const token = { thread: "t", holder: "h", epoch };
      const [put, written] = [
        thread.put({ id: "a", state: {} }, { lease: token }),
        thread.putWrites("a", { task: "t", writes: [{ channel: "c", value: 1 }] }, { lease: token }),
      ];
      token.epoch = epoch + 1;
      await put;
      await written;
      const stale = { ...token };
      const refused = failsWith("FENCED", () => thread.put({ state: {} }, { lease: stale }));
      stale.epoch = epoch;
      await refused;
      assert.equal(await thread.count(), 1);
    },
  },
  {
    name: "capture: changing an object passed to put, before or after it commits, changes nothing stored",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      const input = {
        state: rich(),
        next: [{ node: "n", arg: rich() }],
        interrupts: [{ id: "i", node: "n", value: rich() }],
        barriers: [{ node: "j", arrived: ["x"] }],
        completed: ["c"],
        path: ["p"],
        metadata: { m: [1] },
      };
      const pending = thread.put(input);
      spoil(input);
      await pending;
      spoil(input);
      for (const reader of [thread, (await open()).thread("t")]) {
        const whole = await reader.latest();
        exact(
          [whole?.state, whole?.next, whole?.interrupts, whole?.barriers, whole?.completed, whole?.path],
          [
            rich(),
            [{ node: "n", arg: rich() }],
            [{ id: "i", node: "n", value: rich() }],
            [{ node: "j", arrived: ["x"] }],
            ["c"],
            ["p"],
          ],
        );
        exact(whole?.metadata, { m: [1] });
      }
    },
  },
  {
    name: "capture: a state mutated in place and put again is seen as changed, each version kept",
    async run({ open }) {
      const thread = (await open()).thread("t");
      const state: Free = { list: [{ n: 0 }], deep: { deeper: { n: 0 } } };
      const ids: string[] = [];
      for (let n = 0; n < 70; n++) {
        state.list[0].n = n;
        state.deep.deeper.n = n;
        state.list.push({ n });
        ids.push((await thread.put({ state })).id);
      }
      for (const [n, id] of ids.entries()) {
        const read = (await thread.get(id))?.state;
        assert.equal(read?.list.length, n + 2);
        exact([read?.list[0], read?.deep, read?.list.at(-1)], [{ n }, { deeper: { n } }, { n }]);
      }
    },
  },
  {
    name: "capture: changing an object passed in an update changes nothing stored, also when its arrays are used again",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      const list: Free[] = [{ n: 0 }];
      const set: Free = { deep: { n: 0 }, list };
      const first = thread.put({ update: { set } });
      spoil(set);
      await first;
      const added: Free[] = [];
      for (let n = 1; n < 70; n++) {
        added.length = 0;
        added.push({ n });
        const fields: Free = { deep: { n } };
        const pending = thread.put({ update: { append: { list: added }, set: fields } });
        spoil(fields);
        await pending;
        spoil(added);
      }
      for (const reader of [thread, (await open()).thread("t")]) {
        const whole = await wholeHistory(reader);
        for (const [index, checkpoint] of whole.reverse().entries()) {
          exact(checkpoint.state, {
            deep: { n: index },
            list: Array.from({ length: index + 1 }, (_, n) => ({ n })),
          });
        }
      }
    },
  },
  {
    name: "capture: returned values belong to the caller",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      const fields = { state: rich(), next: [{ node: "n", arg: rich() }], metadata: { m: [1] }, path: ["p"] };
      const info = await thread.put({ ...fields, id: "a" });
      await thread.put({ update: { append: { list: [1] } }, id: "b" });
      await thread.putWrites("a", { task: "t", writes: [{ channel: "c", value: rich() }] });
      const before = await snapshot(store, "t");
      spoil(info);
      for (let round = 0; round < 2; round++) {
        spoil(await thread.latest());
        spoil(await thread.get("a"));
        spoil(await thread.get({ step: 0 }));
        spoil(await thread.tuple("a"));
        spoil(await thread.writes("a"));
        spoil(await wholeHistory(thread));
        spoil(await collect(thread.history()));
        spoil(await thread.diff("a", "b"));
        spoil(await thread.namespaces());
        spoil(await collect(store.threads()));
      }
      exact(await snapshot(store, "t"), before);
      const next = await thread.put({ update: { append: { list: [2] } } });
      exact((await thread.get(next.id))?.state, { ...rich(), list: [{ a: [1] }, 1, 2] });
    },
  },
  {
    name: "capture: each state of a history belongs to the caller, whatever happens to earlier ones, also on branches",
    async run({ open }) {
      const writer = await open(smallPacks);
      const states = new Map<string, Free>();
      await writer.thread("t").put({ id: "c0", state: { list: [] } });
      states.set("c0", { list: [] });
      for (let n = 1; n < 45; n += 1) {
        // Sometimes from an older parent, and sometimes as a whole state.
        const parent = n % 7 === 0 ? `c${n - 5}` : `c${n - 1}`;
        const list = [...(states.get(parent) as Free).list, { n, rich: rich() }];
        const input = n % 5 === 0 ? { state: { list } } : { update: { append: { list: [{ n, rich: rich() }] } } };
        await writer.thread("t").put({ ...input, id: `c${n}` } as { state: Free; id: string }, { parent });
        states.set(`c${n}`, { list });
      }
      await writer.close();
      for (const limit of [2, 5, 10, 45]) {
        const thread = (await open()).thread("t");
        for (const before of [undefined, "c40", "c20"]) {
          for await (const { id, state } of thread.history({ limit, states: true, ...(before && { before }) })) {
            exact(state, states.get(id));
            spoil(state);
          }
        }
      }
    },
  },
  {
    name: "capture: writes, fork edits and options are captured in the call",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      await thread.put({ id: "a", state: { n: 1 } });
      const value = rich();
      const input = { task: "t", node: "n", writes: [{ channel: "c", value }] };
      const writing = thread.putWrites("a", input);
      spoil(input.writes);
      spoil(value);
      input.task = "other";
      await writing;
      exact(
        (await thread.writes("a")).map((write) => [write.task, write.channel, write.value]),
        [["t", "c", rich()]],
      );
      const edits: Free = { extra: rich() };
      const options = { edits, into: "f", label: "mine" };
      const forking = thread.fork(options);
      spoil(edits);
      Object.assign(options, { into: "g", label: "theirs" });
      const fork = await forking;
      assert.equal(fork.id, "f");
      const head = await fork.latest();
      exact([head?.state, head?.label], [{ n: 1, extra: rich() }, "mine"]);
      const namespace = ["sub"];
      const nested = store.thread("t", { namespace });
      namespace.push("changed");
      await nested.put({ state: { nested: true } });
      exact((await store.thread("t", { namespace: ["sub"] }).latest())?.state, { nested: true });
    },
  },
  {
    name: "capture: returned namespaces are not shared with the handle",
    async run({ open }) {
      const store = await open();
      const nested = store.thread("t", { namespace: ["sub"] });
      await nested.put({ id: "a", state: {} });
      const read = await nested.latest();
      spoil(read?.namespace);
      exact((await nested.latest())?.namespace, ["sub"]);
      exact([nested.id, [...nested.namespace]], ["t", ["sub"]]);
    },
  },
];
