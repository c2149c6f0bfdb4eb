import assert from "node:assert/strict";
import type { Thread } from "../../../api/thread.ts";
import type { Case, Free } from "../../case.ts";
import { type Kept, readsBack } from "../../support/conversation.ts";
import { exact } from "../../support/exact.ts";
import { idsOf } from "../../support/snapshot.ts";

/** Longer than the full frames that every removal writes: a removal of few checkpoints hides them. */
const LONG = "a long text, ".repeat(2_000);

/** Keeps the text in the frames. */
const options = { packRows: 8, largeValues: { from: Number.POSITIVE_INFINITY } } as const;

/** Puts a large state and steps that change little of it, and prunes after each. Returns all checkpoints, the last of which are left. */
async function pruneEachStep(thread: Thread<Free>, steps: number, keepLast: number): Promise<Kept[]> {
  const kept: Kept[] = [];
  let state: Free = { text: LONG, turns: [] as number[] };
  for (let turn = 0; turn < steps; turn += 1) {
    const put =
      turn === 0
        ? await thread.put({ state })
        : await thread.put({ update: { append: { turns: [turn] } }, node: "act" });
    if (turn > 0) state = { ...state, turns: [...state["turns"], turn] };
    kept.push({ id: put.id, state });
    await thread.putWrites(put.id, { task: "t", node: "act", writes: [{ channel: "turns", value: turn }] });
    const { deleted } = await thread.prune({ keepLast });
    assert.equal(deleted, turn < keepLast ? 0 : 1);
  }
  return kept;
}

export const pruneHidden: readonly Case[] = [
  {
    name: "prune: a large state that is pruned after every step shows the checkpoints that are kept and no others",
    async run({ open }) {
      const store = await open(options);
      const thread = store.thread("t");
      const all = await pruneEachStep(thread, 40, 5);
      const kept = all.slice(-5);
      const ids = kept.map(({ id }) => id).reverse();
      exact([await idsOf(thread), await thread.count()], [ids, 5]);
      for (const { id } of all.slice(0, -5)) exact([await thread.get(id), await thread.writes(id)], [undefined, []]);
      await readsBack(thread, kept);
      exact((await thread.get(kept[0]?.id ?? ""))?.parent, null);
      exact((await thread.get(kept[1]?.id ?? ""))?.parent, kept[0]?.id);
      exact((await store.measure()).checkpoints, 5);
      exact(await store.verify(), { ok: true, faults: [] });
    },
  },
  {
    name: "prune: a store that is opened anew, a fork, a copy and a bundle show what such a thread shows",
    async run({ open }) {
      const earlier = await open(options);
      const kept = (await pruneEachStep(earlier.thread("t"), 30, 4)).slice(-4);
      await earlier.close();
      const store = await open(options);
      const again = store.thread("t");
      await readsBack(again, kept);
      const ids = kept.map(({ id }) => id).reverse();
      const fork = await again.fork({ at: kept[2]?.id ?? "", into: "fork" });
      const copy = await again.copy("copy");
      exact([await idsOf(fork), await idsOf(copy)], [ids.slice(1), ids]);
      await again.prune({ keepLast: 1 });
      exact([await idsOf(fork), await idsOf(copy), await idsOf(again)], [ids.slice(1), ids, ids.slice(0, 1)]);
      await readsBack(fork, kept.slice(0, 3));
      const lines: string[] = [];
      for await (const line of store.export({ threads: ["copy"] })) lines.push(line);
      await store.thread("copy").delete();
      await store.import(lines);
      exact(await idsOf(store.thread("copy")), ids);
      await readsBack(store.thread("copy"), kept);
      exact(await store.verify(), { ok: true, faults: [] });
    },
  },
  {
    name: "prune: a checkpoint under the id of one that was pruned is new, without the writes of the other",
    async run({ open }) {
      const thread = (await open(options)).thread("t");
      await thread.put({ id: "one", state: { text: LONG } });
      await thread.putWrites("one", { task: "t", node: "act", writes: [{ channel: "a", value: 1 }] });
      await thread.put({ id: "two", update: { set: { n: 2 } } });
      assert.equal((await thread.prune({ keepLast: 1 })).deleted, 1);
      exact(await thread.writes("one"), []);
      await thread.put({ id: "one", update: { set: { n: 3 } } });
      exact([await idsOf(thread), await thread.writes("one")], [["one", "two"], []]);
      assert.equal(await thread.deleteCheckpoints(["one", "two"]), 2);
      exact(await thread.latest(), undefined);
    },
  },
  {
    name: "prune: a compaction takes hidden checkpoints out of storage",
    async run({ open }) {
      const store = await open(options);
      const thread = store.thread("t");
      const kept = (await pruneEachStep(thread, 30, 3)).slice(-3);
      const before = (await store.measure()).bytes;
      await store.compact();
      const after = (await store.measure()).bytes;
      assert.ok(after.tail + after.packs < before.tail + before.packs, `${after.tail + after.packs} bytes`);
      exact(await idsOf(thread), kept.map(({ id }) => id).reverse());
      await readsBack(thread, kept);
      await thread.put({ update: { append: { turns: [30] } } });
      exact((await thread.latest())?.state["turns"].length, 30);
      exact(await store.verify(), { ok: true, faults: [] });
    },
  },
];
