import assert from "node:assert/strict";
import type { Case, Free } from "../../case.ts";
import { converse, type Kept, readsBack, smallPacks } from "../../support/conversation.ts";
import { exact } from "../../support/exact.ts";
import { collect, idsOf, wholeHistory } from "../../support/snapshot.ts";

/** Returns a small deterministic generator of numbers in [0, 1). */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

export const packs: readonly Case[] = [
  ...(
    [
      [1, 64],
      [2, 64],
      [63, 64],
      [64, 64],
      [65, 64],
      [200, 64],
      [31, 16],
      [32, 16],
      [33, 16],
      [100, 16],
    ] as const
  ).map(
    ([length, packRows]): Case => ({
      name: `long histories: all of ${length} checkpoints, ${packRows} a pack, read exactly, from both ends, in a fresh store too`,
      async run({ open }) {
        const store = await open({ packRows });
        const thread = store.thread("t");
        const kept = await converse(thread, length);
        for (const reader of [thread, (await open()).thread("t")]) {
          assert.equal(await reader.count(), length);
          await readsBack(reader, kept);
          await readsBack(reader, kept.toReversed());
          const whole = await wholeHistory(reader);
          exact(
            whole.map(({ id, state }) => ({ id, state })),
            kept.toReversed(),
          );
          const parents = (await collect(reader.history())).map(({ parent }) => parent);
          exact(parents, [
            ...kept
              .slice(0, -1)
              .map(({ id }) => id)
              .reverse(),
            null,
          ]);
          exact((await reader.get({ step: length - 1 }))?.id, kept.at(-1)?.id);
          exact((await reader.get({ step: 0 }))?.id, kept[0]?.id);
        }
      },
    }),
  ),
  {
    name: "long histories: reading everything between puts changes nothing",
    async run({ open }) {
      const thread = (await open(smallPacks)).thread("t");
      const kept: Kept[] = [];
      for (let step = 0; step < 50; step++) {
        kept.push(...(await converse(thread, 1)));
        await readsBack(thread, kept.filter((_, index) => (index + step) % 13 === 0).concat(kept.slice(-2)));
      }
      await readsBack(thread, kept);
    },
  },
  {
    name: "long histories: reopening after every few steps changes nothing",
    async run({ open }) {
      const kept: Kept[] = [];
      for (const count of [1, 7, 8, 1, 1, 1, 15, 2, 16, 16, 3]) {
        const store = await open(smallPacks);
        kept.push(...(await converse(store.thread("t"), count)));
        await store.close();
      }
      const thread = (await open()).thread("t");
      await readsBack(thread, kept);
      exact(await idsOf(thread), kept.map(({ id }) => id).reverse());
    },
  },
  {
    name: "long histories: branches that take turns, from old and new checkpoints, read back exactly",
    async run({ open }) {
      const store = await open(smallPacks);
      const thread = store.thread("t");
      const random = numbers(7);
      const kept: Kept[] = [];
      const states = new Map<string, Free>();
      const root = await thread.put({ id: "root", state: { list: [], n: -1 } });
      kept.push({ id: root.id, state: { list: [], n: -1 } });
      states.set(root.id, { list: [], n: -1 });
      const tips = ["root", "root", "root"];
      for (let n = 0; n < 90; n++) {
        const tip = n % 3;
        const parent =
          random() < 0.1 ? (kept[Math.floor(random() * kept.length)]?.id ?? "root") : (tips[tip] ?? "root");
        const before = states.get(parent) ?? {};
        const state = { ...before, list: [...before.list, { tip, n }], n };
        const input = n % 2 === 0 ? { state } : { update: { append: { list: [{ tip, n }] }, set: { n } } };
        const { id } = await thread.put({ ...input, id: `c${n}` } as { state: Free; id: string }, { parent });
        tips[tip] = id;
        states.set(id, state);
        kept.push({ id, state });
      }
      await readsBack(thread, kept);
      await store.close();
      const again = (await open()).thread("t");
      await readsBack(again, kept);
      for (const tip of tips) {
        const forked = await again.fork({ at: tip });
        exact(await forked.count(), states.get(tip)?.list.length + 1);
        exact((await forked.latest())?.state, states.get(tip));
      }
    },
  },
  {
    name: "long histories: states that are overwritten, shrink, grow and change structure read back exactly",
    async run({ open }) {
      const store = await open(smallPacks);
      const thread = store.thread("t");
      const random = numbers(42);
      const kept: Kept[] = [];
      for (let n = 0; n < 80; n++) {
        const shape = Math.floor(random() * 6);
        const state: Free =
          [
            { blob: String(random()).repeat(1 + Math.floor(random() * 200)) },
            { list: Array.from({ length: Math.floor(random() * 100) }, (_, index) => index * n) },
            {
              files: Object.fromEntries(
                Array.from({ length: 20 }, (_, index) => [`f${index}`, `line ${n % (index + 2)}\n`.repeat(40)]),
              ),
            },
            { list: Array.from({ length: 50 }, () => ({ id: Math.floor(random() * 5) })), blob: "" },
            {},
            { tree: [[[n]], { a: [{ b: new Map([[n, new Set([n])]]) }] }], at: new Date(n) },
          ][shape] ?? {};
        const { id } = await thread.put({ state });
        kept.push({ id, state: structuredClone(state) });
      }
      for (const reader of [thread, (await open()).thread("t")]) await readsBack(reader, kept);
    },
  },
  {
    name: "long histories: a list trimmed now and then and a text edited in the middle read back exactly",
    async run({ open }) {
      const store = await open(smallPacks);
      const thread = store.thread("t");
      const kept: Kept[] = [];
      let list: Free[] = [];
      let text = "a line of text\n".repeat(200);
      for (let n = 0; n < 80; n++) {
        list = n % 20 === 19 ? list.slice(-5) : [...list, { n, text: "m".repeat(n % 30) }];
        const at = (n * 131) % text.length;
        text = `${text.slice(0, at)}<${n}>${text.slice(at + (n % 7))}`;
        const state = { list, text, window: list.slice(-3) };
        const { id } = await thread.put({ state });
        kept.push({ id, state: structuredClone(state) });
      }
      for (const reader of [thread, (await open()).thread("t")]) await readsBack(reader, kept);
    },
  },
];
