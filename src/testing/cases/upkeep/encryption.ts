import assert from "node:assert/strict";
import type { Store } from "../../../api/store.ts";
import type { Case, Free } from "../../case.ts";
import { exact } from "../../support/exact.ts";
import { failsWith, isMisuse } from "../../support/failures.ts";
import { collect, wholeHistory } from "../../support/snapshot.ts";

/** Keys that are no secret. */
const [one, two] = ["1f", "2e"].map((byte) => byte.repeat(32)) as [string, string];
const first = { current: "one", keys: { one } };
const both = { current: "two", keys: { one, two } };
const second = { current: "two", keys: { two } };

/** Writes two threads and a fork, with a label, writes, attributes and a large value. */
async function fill(store: Store<Free>): Promise<void> {
  for (const id of ["a", "b"]) {
    const thread = store.thread(id);
    await thread.put({ state: { id, n: 0 }, id: `${id}0`, workflow: "w", attributes: { tenant: id }, label: "first" });
    await thread.put({ update: { set: { n: 1, text: `${id} `.repeat(200) } }, id: `${id}1`, next: ["act"] });
    await thread.putWrites(`${id}1`, { task: "t", writes: [{ channel: "c", value: id }] });
  }
  await store.thread("a").fork({ into: "f", edits: { n: 2 } });
}

async function contents(store: Store<Free>): Promise<string> {
  const all: unknown[] = [];
  for (const id of ["a", "b", "f"]) {
    const thread = store.thread(id);
    const history = await wholeHistory(thread);
    all.push(await thread.info(), history, [...(await thread.writesOf(history))]);
  }
  return JSON.stringify(all);
}

async function faultless(store: Store<Free>): Promise<void> {
  exact((await store.verify()).faults, []);
}

export const encryption: readonly Case[] = [
  {
    name: "encryption: a store reads with its keys; with none, wrong or others it is KEY, and nothing is written",
    async run({ open }) {
      const store = await open({ encryption: first, largeValues: { from: 100 } });
      await fill(store);
      const before = await contents(store);
      await store.close();
      for (const options of [{}, { encryption: second }, { encryption: { current: "one", keys: { one: two } } }]) {
        const other = await open({ encryption: undefined, ...options } as Free);
        await failsWith("KEY", () => other.thread("a").latest());
        await failsWith("KEY", () => other.thread("new").put({ state: {} }));
        await failsWith("KEY", () => collect(other.threads()));
        await other.close();
      }
      const again = await open({ encryption: first });
      exact(await contents(again), before);
      exact((await again.counts()).threads, 3);
      await faultless(again);
    },
  },
  {
    name: "encryption: rotate wraps keys and writes data anew, and the new key alone is enough",
    async run({ open }) {
      const store = await open({ encryption: first, largeValues: { from: 100 } });
      await fill(store);
      const before = await contents(store);
      await store.close();
      const rotating = await open({ encryption: both });
      exact(await rotating.rotate(), { wrapped: 2, rewritten: 0 });
      exact(await rotating.rotate(), { wrapped: 0, rewritten: 0 });
      exact(await rotating.rotate({ data: true }), { wrapped: 0, rewritten: 2 });
      exact(await contents(rotating), before);
      await rotating.close();
      const rotated = await open({ encryption: second });
      exact(await contents(rotated), before);
      await rotated.thread("a").put({ update: { set: { n: 5 } } });
      await faultless(rotated);
    },
  },
  {
    name: "encryption: a plain store is encrypted by migrating and rotate, and takes no keyless program afterwards",
    async run({ open }) {
      const store = await open({ encryption: undefined, largeValues: { from: 100 } } as Free);
      await fill(store);
      const before = await contents(store);
      await store.close();
      const early = await open({ encryption: first });
      await failsWith("KEY", () => early.thread("a").latest());
      await early.close();
      const migrating = await open({ encryption: { ...first, migrating: true } });
      exact(await contents(migrating), before);
      await migrating.rotate();
      await migrating.close();
      const keyless = await open({ encryption: undefined } as Free);
      await failsWith("KEY", () => keyless.thread("a").latest());
      await keyless.close();
      const encrypted = await open({ encryption: first });
      exact(await contents(encrypted), before);
      await faultless(encrypted);
    },
  },
  {
    name: "encryption: hidden ids are found by equality and listed as they are, and what needs an order is a TypeError",
    async run({ open }) {
      const store = await open({ encryption: { ...first, hideIds: true } });
      await fill(store);
      const found = async (options: Free): Promise<string[]> =>
        (await collect(store.threads(options))).map(({ id }) => id).sort();
      exact(await found({}), ["a", "b", "f"]);
      exact(await found({ workflow: "w", order: "updated" }), ["a", "b", "f"]);
      exact(await found({ where: { tenant: "a" } }), ["a", "f"]);
      exact(await found({ where: { tenant: { in: ["b", "c"] } } }), ["b"]);
      exact((await store.counts()).workflows["w"]?.paused, 3);
      await isMisuse(() => found({ prefix: "a" }));
      await isMisuse(() => found({ where: { tenant: { gt: "a" } } }));
      const [page] = await collect(store.threads({ limit: 1 }));
      const rest = await collect(store.threads({ after: page?.id as string }));
      assert.equal(rest.length, 2);
      await store.thread("b").delete();
      exact(await found({}), ["a", "f"]);
      await faultless(store);
      await store.close();
      const visible = await open({ encryption: { ...first, hideIds: false } });
      await failsWith("KEY", () => visible.thread("a").latest());
      const same = await open({ encryption: first });
      exact((await same.thread("f").latest())?.state["n"], 2);
    },
  },
];
