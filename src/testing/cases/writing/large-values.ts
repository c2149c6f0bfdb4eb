import assert from "node:assert/strict";
import type { Store } from "../../../api/store.ts";
import type { StoredObject, ValueDriver } from "../../../model/interface/store-options.ts";
import type { Case, Free } from "../../case.ts";
import { exact } from "../../support/exact.ts";

/** Returns a text that is not like any other. */
function documentOf(seed: string, length = 20_000): string {
  let text = "";
  for (let line = 0; text.length < length; line++) text += `${seed}: ${line} ${(line * 7919) % 1013}. `;
  return text.slice(0, length);
}

const options = { largeValues: { from: 8_192 }, packRows: 4 } as const;

async function valueBytes(store: Store<Free>): Promise<number> {
  return (await store.measure()).bytes.values;
}

/** Returns a driver that keeps objects in memory, with the times of a clock. */
function objects(clock: () => number): { readonly driver: ValueDriver; readonly kept: Map<string, Uint8Array> } {
  const kept = new Map<string, Uint8Array>();
  const times = new Map<string, number>();
  const driver: ValueDriver = {
    async put(name, bytes) {
      assert.ok(!kept.has(name) && /^[\w-]+$/.test(name), `the name ${name} is used again`);
      kept.set(name, bytes.slice());
      times.set(name, clock());
    },
    get: async (name) => kept.get(name),
    async delete(name) {
      kept.delete(name);
    },
    async *list(): AsyncGenerator<StoredObject> {
      for (const name of kept.keys()) yield { name, at: times.get(name) ?? 0 };
    },
  };
  return { driver, kept };
}

export const largeValues: readonly Case[] = [
  {
    name: "large values: a document in four places, in a write, in a fork and in later checkpoints is stored once",
    async run({ open }) {
      const store = await open<Free>(options);
      const thread = store.thread("t");
      const text = documentOf("a");
      const { id } = await thread.put({ state: { a: text, b: [text, { c: text }], d: { e: text } } });
      const once = await valueBytes(store);
      assert.ok(once > 20_000 && once < 21_000, `${once} bytes`);
      await thread.putWrites(id, { task: "1", writes: [{ channel: "c", value: { text } }] });
      for (let n = 0; n < 12; n++) await thread.put({ update: { set: { n, [`f${n}`]: text } } });
      await thread.fork({ into: "f", edits: { mine: text } });
      assert.equal(await valueBytes(store), once);
      const again = await open<Free>(options);
      exact((await again.thread("t").get(id))?.state, { a: text, b: [text, { c: text }], d: { e: text } });
      exact((await again.thread("t").writes(id))[0]?.value, { text });
      assert.equal((await again.thread("f").latest())?.state["mine"], text);
      for await (const one of again.thread("t").history({ states: true })) {
        assert.equal((one as { readonly state: Free }).state["a"], text);
      }
      exact(await again.verify(), { ok: true, faults: [] });
    },
  },
  {
    name: "large values: an edited document takes the edit, also when the checkpoints before it are gone",
    async run({ open }) {
      const store = await open<Free>(options);
      const thread = store.thread("t");
      let text = documentOf("a", 50_000);
      await thread.put({ state: { text, n: 0 } });
      const before = await valueBytes(store);
      for (let n = 1; n < 20; n++) {
        text = text.replace(`a: ${n * 40} `, `edited ${n} `);
        await thread.put({ state: { text, n } });
      }
      await thread.prune({ keepLast: 2 });
      assert.equal(await valueBytes(store), before);
      const again = await open<Free>(options);
      exact((await again.thread("t").latest())?.state, { text, n: 19 });
      exact(await again.verify(), { ok: true, faults: [] });
    },
  },
  {
    name: "large values: a value goes with the last record of its lineage that refers to it",
    async run({ open }) {
      const store = await open<Free>(options);
      const thread = store.thread("t");
      const [one, two] = [documentOf("one"), documentOf("two")];
      await thread.put({ state: { text: one } });
      await thread.fork({ into: "f" });
      for (let n = 0; n < 9; n++) await thread.put({ state: { text: two, n } });
      const both = await valueBytes(store);
      await thread.prune({ keepLast: 1 });
      assert.equal(await valueBytes(store), both);
      await store.thread("f").delete();
      await store.compact();
      const left = await valueBytes(store);
      assert.ok(left < both * 0.6, `${left} of ${both} bytes`);
      assert.equal((await thread.latest())?.state["text"], two);
      await thread.delete();
      assert.equal(await valueBytes(store), 0);
    },
  },
  {
    name: "large values: a store refers to no value that another store has collected meanwhile",
    requires: ["processes"],
    async run({ open }) {
      const [store, other] = [await open<Free>(options), await open<Free>(options)];
      const text = documentOf("a");
      for (let round = 0; round < 5; round++) {
        await store.thread("t").put({ state: { text } });
        assert.equal((await other.thread("t").latest())?.state["text"], text);
        await store.thread("t").put({ state: {} });
        await store.thread("t").prune({ keepLast: 1 });
        await other.thread("t").fork({ into: `f${round}`, edits: { text } });
        await other.thread("t").put({ update: { set: { text } } });
        assert.equal((await store.thread(`f${round}`).latest())?.state["text"], text);
        exact(await store.verify(), { ok: true, faults: [] });
      }
    },
  },
  {
    name: "large values: stores that write and collect the same values at once lose none",
    requires: ["processes"],
    async run({ open }) {
      const stores = [await open<Free>(options), await open<Free>(options), await open<Free>(options)];
      const [first] = stores as [Store<Free>];
      await first.thread("root").put({ state: { text: documentOf("0") } });
      const work = async (store: Store<Free>, number: number): Promise<void> => {
        for (let n = 0; n < 12; n++) {
          const into = `f${number}-${n}`;
          await store.thread("root").fork({ into, edits: { text: documentOf(String(n % 3)) } });
          await store.thread(into).put({ update: { set: { more: documentOf(String((n + 1) % 3)) } } });
          await store.thread(into).prune({ keepLast: 1 });
          if (n % 4 !== 3) await store.thread(into).delete();
        }
      };
      await Promise.all(stores.map(work));
      exact(await first.verify(), { ok: true, faults: [] });
      const again = await open<Free>(options);
      for (const number of [0, 1, 2]) {
        for (const n of [3, 7, 11]) {
          const state = (await again.thread(`f${number}-${n}`).latest())?.state;
          exact(state, { text: documentOf(String(n % 3)), more: documentOf(String((n + 1) % 3)) });
        }
      }
    },
  },
  {
    name: "large values: with a driver they live outside, are found again and deleted, and leftovers are swept by age",
    async run({ open, clock }) {
      const { driver, kept } = objects(() => clock.now());
      const outside = { ...options, largeValues: { from: 8_192, driver } };
      const store = await open<Free>(outside);
      const thread = store.thread("t");
      const text = documentOf("a");
      await thread.put({ state: { a: text, b: text } });
      await thread.put({ update: { set: { c: documentOf("c") } } });
      assert.equal(kept.size, 2);
      assert.ok((await valueBytes(store)) < 1_000);
      const again = await open<Free>(outside);
      exact((await again.thread("t").latest())?.state, { a: text, b: text, c: documentOf("c") });
      exact(await again.verify(), { ok: true, faults: [] });
      const without = await open<Free>(options);
      await assert.rejects(without.thread("t").latest(), { code: "UNSUPPORTED" });
      // An upload whose commit never came: its name is like that of another upload of the value.
      const [name] = [...kept.keys()] as [string];
      const leftOver = `${name.slice(0, -1)}${name.endsWith("A") ? "Q" : "A"}`;
      kept.set(leftOver, new Uint8Array(3));
      kept.set("of-somebody-else", new Uint8Array(3));
      await store.compact();
      assert.equal(kept.has(leftOver), false, "an object whose time is unknown is old");
      assert.ok(kept.delete("of-somebody-else"), "an object with a name that no store has made stays");
      assert.equal(kept.size, 2);
      await driver.put(leftOver, new Uint8Array(3));
      await store.compact();
      assert.ok(kept.delete(leftOver), "a young object stays");
      await thread.put({ state: {} });
      await thread.prune({ keepLast: 1 });
      assert.equal(kept.size, 0);
    },
  },
  {
    name: "large values: an upload that fails commits nothing, and a lost object is a fault of its checkpoint",
    async run({ open, clock }) {
      const { driver, kept } = objects(() => clock.now());
      let failing = true;
      const put = async (name: string, bytes: Uint8Array): Promise<void> => {
        if (failing) throw new Error("no room");
        return driver.put(name, bytes);
      };
      const store = await open<Free>({ ...options, largeValues: { from: 8_192, driver: { ...driver, put } } });
      const thread = store.thread("t");
      await assert.rejects(thread.put({ state: { text: documentOf("a") } }), { code: "BACKEND", committed: false });
      assert.equal(await thread.latest(), undefined);
      failing = false;
      const { id } = await thread.put({ state: { text: documentOf("a") } });
      kept.clear();
      const { faults } = await store.verify();
      assert.ok(faults.some(({ checkpoint }) => checkpoint === id));
    },
  },
];
