import assert from "node:assert/strict";
import type { Case } from "../../case.ts";
import { converse, readsBack, smallPacks } from "../../support/conversation.ts";
import { exact } from "../../support/exact.ts";
import { failsWith, isMisuse } from "../../support/failures.ts";
import { snapshot } from "../../support/snapshot.ts";

export const detached: readonly Case[] = [
  {
    name: "detached: a detached copy shows what a copy shows, and stays so when its source and its copies are deleted",
    async run({ open }) {
      const store = await open(smallPacks);
      const thread = store.thread("t");
      const kept = await converse(thread, 12);
      await store.thread("t", { namespace: ["nested"] }).put({ state: { large: "x".repeat(10_000) } });
      await thread.label({ step: 3 }, "third");
      await thread.put({ id: kept[5]?.id as string, state: { replaced: 1 } });
      await thread.putWrites(kept[6]?.id as string, { task: "t", writes: [{ channel: "c", value: [1] }] });
      await thread.copy("shared");
      const copy = await thread.copy("own", { detached: true });
      const shown = async (id: string): Promise<unknown> => (await snapshot(store, id)).namespaces;
      exact(await shown("own"), JSON.parse(JSON.stringify(await shown("shared")).replaceAll('"shared"', '"own"')));
      await thread.delete();
      await store.thread("shared").delete();
      await store.compact();
      await readsBack(copy, [...kept.slice(0, 5), ...kept.slice(6)]);
      exact((await store.verify()).faults, []);
      await copy.put({ update: { set: { after: 1 } } });
      exact((await copy.latest())?.state["after"], 1);
    },
  },
  {
    name: "detached: detached forks begin like forks: with ancestors, with edits and a label, without history",
    async run({ open }) {
      const store = await open(smallPacks);
      const thread = store.thread("t");
      const kept = await converse(thread, 10);
      await thread.put({ update: { set: { attributes: 1 } }, attributes: { tenant: "acme" } });
      const at = { step: 5 };
      const plain = await thread.fork({ at, into: "plain", label: "start", detached: true });
      await readsBack(plain, kept.slice(0, 6));
      exact(
        [await plain.count(), (await plain.latest())?.label, await plain.attributes()],
        [6, "start", { tenant: "acme" }],
      );
      const large = "long ".repeat(3000);
      const edited = await thread.fork({ at, into: "edited", edits: { extra: large }, detached: true });
      const head = await edited.latest();
      exact(
        [head?.state, head?.source, head?.label, head?.parent],
        [{ ...kept[5]?.state, extra: large }, "fork", "fork-of:t", kept[5]?.id],
      );
      const bare = await thread.fork({ at, into: "bare", history: "none", detached: true });
      exact(
        [await bare.count(), (await bare.latest())?.state, (await bare.latest())?.parent],
        [1, kept[5]?.state, null],
      );
      await thread.put({ state: { later: 1 } });
      exact([await plain.count(), await edited.count(), await bare.count()], [6, 7, 1]);
      exact((await store.verify()).faults, []);
    },
  },
  {
    name: "detached: deleting, pruning and erasing in a detached fork leaves its source alone, and needs no look at other forks",
    async run({ open }) {
      const store = await open(smallPacks);
      const thread = store.thread("t");
      const kept = await converse(thread, 6);
      await thread.put({ update: { set: { who: "alice@example.com" } } });
      const fork = await thread.fork({ into: "fork", detached: true });
      exact((await fork.erase(["who"])).erased.length, 1);
      exact(
        [(await fork.latest())?.state["who"], (await thread.latest())?.state["who"]],
        ["[erased]", "alice@example.com"],
      );
      await fork.prune({ keepLast: 1 });
      await fork.delete();
      await readsBack(thread, kept);
      exact((await store.verify()).faults, []);
    },
  },
  {
    name: "detached: a taken name is CONFLICT, an unknown thread or checkpoint NOT_FOUND, a wrong option a TypeError",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      await failsWith("NOT_FOUND", () => thread.copy("c", { detached: true }));
      await failsWith("NOT_FOUND", () => thread.fork({ into: "c", detached: true }));
      await thread.put({ state: { a: 1 } });
      await failsWith("NOT_FOUND", () => thread.fork({ at: { step: 9 }, into: "c", detached: true }));
      await thread.copy("c", { detached: true });
      await failsWith("CONFLICT", () => thread.copy("c", { detached: true }));
      await failsWith("CONFLICT", () => thread.fork({ into: "c", detached: true }));
      await isMisuse(() => thread.copy("d", { detached: 1 } as never));
      await isMisuse(() => thread.copy("d", { apart: true } as never));
      const outcomes = await Promise.allSettled(
        Array.from({ length: 4 }, () => thread.fork({ into: "same", detached: true })),
      );
      assert.equal(outcomes.filter(({ status }) => status === "fulfilled").length, 1);
    },
  },
];
