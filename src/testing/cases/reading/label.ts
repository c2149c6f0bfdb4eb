import assert from "node:assert/strict";
import type { Case } from "../../case.ts";
import { converse } from "../../support/conversation.ts";
import { exact } from "../../support/exact.ts";
import { failsWith, isMisuse } from "../../support/failures.ts";
import { collect, snapshot } from "../../support/snapshot.ts";

export const label: readonly Case[] = [
  {
    name: "label: a label changes nothing else, in fresh and sealed history, and can be removed",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      const kept = await converse(thread, 140);
      await thread.put({ id: "labelled", state: {}, label: "from the start" });
      const before = await snapshot(store, "t");
      const labels = new Map([
        [kept[0]?.id, "first"],
        [kept[70]?.id, "before-refactor"],
        [kept[139]?.id, "é\n\u{1f600}"],
      ]);
      for (const [id, text] of labels) await thread.label(id ?? "", text);
      for (const reader of [store, await open()]) {
        const listed = await collect(reader.thread("t").history());
        for (const one of listed) {
          assert.equal(one.label, labels.get(one.id) ?? (one.id === "labelled" ? "from the start" : ""));
        }
        assert.equal((await reader.thread("t").get(kept[70]?.id ?? ""))?.label, "before-refactor");
      }
      for (const id of labels.keys()) await thread.label(id ?? "", "");
      exact(await snapshot(store, "t"), before);
      await thread.label("labelled", "other");
      await thread.label("labelled", "from the start");
      exact(await snapshot(store, "t"), before);
    },
  },
  {
    name: "label: a label belongs to a single thread and namespace",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      const nested = store.thread("t", { namespace: ["sub"] });
      for (const one of [thread, nested]) await one.put({ id: "a", state: {} });
      await nested.label("a", "nested");
      exact([(await thread.get("a"))?.label, (await nested.get("a"))?.label], ["", "nested"]);
      await thread.label("a", "shared");
      const forked = await thread.fork();
      await thread.label("a", "source");
      await forked.label("a", "fork");
      exact([(await thread.get("a"))?.label, (await forked.get("a"))?.label], ["source", "fork"]);
    },
  },
  {
    name: "label: an unknown checkpoint is NOT_FOUND, a label that is no string a TypeError",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      await failsWith("NOT_FOUND", () => thread.label("a", "x"));
      await thread.put({ id: "a", state: {} });
      await failsWith("NOT_FOUND", () => thread.label("b", "x"));
      await failsWith("NOT_FOUND", () => store.thread("t", { namespace: ["sub"] }).label("a", "x"));
      await isMisuse(() => thread.label("a", 5 as never));
      await isMisuse(() => thread.label("a", undefined as never));
      assert.equal((await thread.get("a"))?.label, "");
    },
  },
];
