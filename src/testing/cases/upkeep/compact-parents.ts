import type { Store } from "../../../api/store.ts";
import type { Thread } from "../../../api/thread.ts";
import type { Case, CaseContext, Free } from "../../case.ts";
import { exact } from "../../support/exact.ts";
import { collect, idsOf, snapshot, type ThreadSnapshot } from "../../support/snapshot.ts";

/**
 * Puts c1 to c4, with c3 replaced by a checkpoint whose parent is c1. By parents the line is c4, c3, c1; but the frame
 * of c3 builds on c2.
 */
async function detour(thread: Thread<Free>): Promise<void> {
  for (const id of ["c1", "c2", "c3"]) await thread.put({ id, state: { id } });
  await thread.put({ id: "c3", state: { id: "c3", again: true } }, { parent: "c1" });
  await thread.put({ id: "c4", state: { id: "c4" } }, { parent: "c3" });
}

/** Compacts twice, and fails unless every thread then shows what it showed before, to this store and to a fresh one. */
async function compactsUnseen(store: Store<Free>, open: CaseContext["open"]): Promise<void> {
  const ids = (await collect(store.threads())).map(({ id }) => id);
  const shown = async (reader: Store<Free>): Promise<Record<string, ThreadSnapshot>> => {
    const all: Record<string, ThreadSnapshot> = {};
    for (const id of ids) all[id] = await snapshot(reader, id);
    return all;
  };
  const before = await shown(store);
  for (let round = 0; round < 2; round++) {
    await store.compact();
    for (const reader of [store, await open()]) exact(await shown(reader), before, `compaction ${round + 1}`);
  }
  exact(await store.verify(), { ok: true, faults: [] });
}

/** A replaced checkpoint may name another parent than its frame builds on: how compaction treats its children. */
export const compactionParents: readonly Case[] = [
  {
    name: "compact: a fork keeps to the line it showed, past a replaced checkpoint that both sides deleted",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      await detour(thread);
      const fork = await thread.fork({ into: "f1", at: "c4" });
      // In separate calls: checkpoints deleted in the same call are hidden together with all between them.
      for (const id of ["c1", "c3"]) await fork.deleteCheckpoints([id]);
      await thread.put({ id: "c4", state: { id: "c4", again: true } }, { parent: "c2" });
      await thread.deleteCheckpoints(["c3"]);
      await compactsUnseen(store, open);
      exact(await idsOf(fork), ["c4"]);
      exact(await fork.get("c2"), undefined);
      // Deletes the parent that was written down for the fork, too.
      await thread.deleteCheckpoints(["c1"]);
      await compactsUnseen(store, open);
      exact(await idsOf(fork), ["c4"]);
      await fork.fork({ into: "f2" });
      await thread.delete();
      await compactsUnseen(store, open);
      for (const id of ["f1", "f2"]) exact(await idsOf(store.thread(id)), ["c4"], id);
    },
  },
  {
    name: "compact: a fork shows the line before a replaced checkpoint that both sides deleted",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      await thread.put({ id: "c0", state: { id: "c0" } });
      await detour(thread);
      const fork = await thread.fork({ into: "f1", at: "c4" });
      for (const side of [fork, thread]) await side.deleteCheckpoints(["c3"]);
      await compactsUnseen(store, open);
      exact(await idsOf(fork), ["c4", "c1", "c0"]);
      for (const side of [fork, thread]) await side.deleteCheckpoints(["c1"]);
      await compactsUnseen(store, open);
      exact(await idsOf(await fork.fork({ into: "f2" })), ["c4", "c0"]);
    },
  },
  {
    name: "compact: forks of forks, and copies of them, keep to their lines past checkpoints that all of them deleted",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      await detour(thread);
      const fork = await thread.fork({ into: "f1", at: "c4" });
      await fork.put({ id: "c5", state: { id: "c5" } });
      const forkOfFork = await fork.fork({ into: "f2", at: "c4" });
      const copied = await fork.copy("copy");
      for (const side of [thread, fork, forkOfFork, copied]) await side.deleteCheckpoints(["c3"]);
      await forkOfFork.deleteCheckpoints(["c1"]);
      await fork.delete();
      await compactsUnseen(store, open);
      exact(await idsOf(forkOfFork), ["c4"]);
      exact(await idsOf(copied), ["c5", "c4", "c1"]);
      exact(await idsOf(await copied.fork({ into: "f3", at: "c4" })), ["c4", "c1"]);
    },
  },
  {
    name: "compact: forks made before and after a replacement each keep the parents of their time",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      for (const id of ["c1", "c2", "c3", "c4"]) await thread.put({ id, state: { id } });
      const early = await thread.fork({ into: "early", at: "c4" });
      await thread.put({ id: "c3", state: { again: 1 } }, { parent: "c1" });
      const middle = await thread.fork({ into: "middle", at: "c4" });
      await thread.put({ id: "c3", state: { again: 2 } }, { parent: null });
      const late = await thread.fork({ into: "late", at: "c4" });
      for (const side of [thread, early, middle, late]) await side.deleteCheckpoints(["c3"]);
      await compactsUnseen(store, open);
      exact(await idsOf(early), ["c4", "c2", "c1"]);
      exact(await idsOf(middle), ["c4", "c1"]);
      exact(await idsOf(late), ["c4"]);
    },
  },
  {
    name: "compact: a fork is not led astray by an older replacement that another fork still shows",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      await detour(thread);
      await thread.fork({ into: "early", at: "c4" });
      await thread.put({ id: "c3", state: { again: 2 } }, { parent: "c2" });
      const late = await thread.fork({ into: "late", at: "c4" });
      await late.deleteCheckpoints(["c3"]);
      await thread.put({ id: "c3", state: { again: 3 } }, { parent: null });
      await compactsUnseen(store, open);
      exact(await idsOf(late), ["c4", "c2", "c1"]);
    },
  },
  {
    name: "compact: in a nested namespace, a fork keeps to its line past checkpoints that both sides deleted",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      const nested = store.thread("t", { namespace: ["a"] });
      await detour(nested);
      await thread.put({ id: "root", state: {} });
      await thread.fork({ into: "f" });
      const forked = store.thread("f", { namespace: ["a"] });
      for (const id of ["c1", "c3"]) await forked.deleteCheckpoints([id]);
      await nested.deleteCheckpoints(["c3"]);
      await compactsUnseen(store, open);
      exact(await idsOf(forked), ["c4"]);
    },
  },
  {
    name: "compact: a replaced checkpoint that was deleted is not found by its id afterwards",
    async run({ open }) {
      const store = await open({ packRows: 3 });
      const thread = store.thread("t");
      await detour(thread);
      for (const id of ["c5", "c6", "c7"]) await thread.put({ id, state: { id } });
      const fork = await thread.fork({ into: "f" });
      for (const side of [fork, thread]) await side.deleteCheckpoints(["c3"]);
      await compactsUnseen(store, open);
      for (const reader of [store, await open()]) {
        for (const id of ["t", "f"]) exact(await reader.thread(id).get("c3"), undefined, id);
      }
    },
  },
  {
    name: "compact: a checkpoint that a fork replaces afterwards follows a remaining one, in a store that remembers the removed",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      for (const id of ["c1", "c2", "c3", "c4"]) await thread.put({ id, state: { id } });
      const fork = await thread.fork({ into: "f" });
      await fork.deleteCheckpoints(["c2"]);
      exact(await idsOf(fork), ["c4", "c3", "c1"]);
      await thread.deleteCheckpoints(["c2"]);
      await store.compact();
      exact((await fork.put({ id: "c3", state: { again: true } })).parent, "c1");
      for (const reader of [store, await open()]) exact((await reader.thread("f").get("c3"))?.parent, "c1");
      await compactsUnseen(store, open);
    },
  },
  {
    name: "compact: a store that remembers a fork shows the parents that another store's compaction decides on",
    async run({ open }) {
      const store = await open();
      const reader = await open();
      const thread = store.thread("t");
      for (const id of ["c1", "c2", "c3", "c4"]) await thread.put({ id, state: { id } });
      await thread.put({ id: "c3", state: { again: true } }, { parent: "c1" });
      const fork = await thread.fork({ into: "f", at: "c4" });
      await store.compact();
      exact(await idsOf(reader.thread("f")), ["c4", "c3", "c1"]);
      // Removes c2, the base of c3's frame: c3 is then based on c1, and nothing is left to write down for c4.
      await thread.delete();
      await store.compact();
      await fork.deleteCheckpoints(["c3"]);
      for (const each of [reader, store, await open()]) {
        exact(await idsOf(each.thread("f")), ["c4", "c1"]);
        exact((await each.thread("f").get("c4"))?.parent, "c1");
      }
    },
  },
];
