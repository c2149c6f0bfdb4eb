import assert from "node:assert/strict";
import type { Case } from "../../case.ts";
import { exact } from "../../support/exact.ts";
import { isMisuse } from "../../support/failures.ts";
import { collect, idsOf } from "../../support/snapshot.ts";

/** Strings that cause trouble somewhere: paths, devices, patterns, quotes, normal forms, names of Object.prototype. */
const nastyIds: readonly string[] = [
  "../escape",
  "../../../../etc/passwd",
  "/etc/x",
  "C:\\x",
  "a/b",
  "a\\b",
  ".",
  "../..",
  " ",
  "a ",
  " a",
  "a.",
  "CON",
  "con",
  "NUL.txt",
  "%00",
  "%2e%2e%2f",
  "'; drop table tail; --",
  '"',
  "`",
  "\u0024{x}",
  "$1",
  "?",
  "*",
  "_",
  "%",
  "\n",
  "\r\n",
  "\t",
  "\u0001",
  "\u007f",
  "\u200b",
  "\ufeff",
  "\uffff",
  "e\u0301",
  "é",
  "\u{1f600}",
  "👩‍👩‍👧‍👦",
  "a\u202eb",
  "__proto__",
  "constructor",
  "toString",
  "undefined",
  "null",
  "0",
  "-1",
  "1e3",
  "true",
  "[]",
  '["a"]',
  "x".repeat(512),
  "é".repeat(256),
  "\u{1f600}".repeat(128),
  `${"x".repeat(511)}y`,
];

const wrong: readonly unknown[] = [
  "",
  "a\0",
  "\0",
  "x".repeat(513),
  "é".repeat(257),
  "\ud800",
  "a\udc00",
  5,
  null,
  undefined,
  {},
  ["a"],
  Symbol("s"),
];

export const ids: readonly Case[] = [
  {
    name: "ids: any well-formed string up to 512 bytes is a thread of its own",
    async run({ open }) {
      const store = await open();
      for (const [n, id] of nastyIds.entries()) await store.thread(id).put({ state: { n, id } }, { expect: null });
      for (const reader of [store, await open()]) {
        for (const [n, id] of nastyIds.entries()) {
          const read = await reader.thread(id).latest();
          exact([read?.thread, read?.state], [id, { n, id }]);
          assert.equal(await reader.thread(id).count(), 1);
        }
        const ordered = [...nastyIds].sort((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)));
        exact(
          (await collect(reader.threads())).map(({ id }) => id),
          ordered,
        );
      }
      const forked = await store.thread("../escape").fork({ into: "x".repeat(500) });
      exact((await forked.latest())?.state, { n: 0, id: "../escape" });
      for (const id of nastyIds) await store.thread(id).delete();
      exact(
        (await collect(store.threads())).map(({ id }) => id),
        ["x".repeat(500)],
      );
    },
  },
  {
    name: "ids: checkpoints, tasks, runs, labels and namespaces may have any such string too, also after sealing",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      for (const [n, id] of nastyIds.entries()) {
        await thread.put({ id, state: { n }, run: id, node: id, label: id, workflow: id, next: [id] });
        await thread.putWrites(id, { task: id, node: id, writes: [{ channel: id, value: id }] });
        await store.thread("t", { namespace: [id, "x"] }).put({ id, state: { n } });
      }
      for (let n = 0; n < 130; n++) await thread.put({ state: { n } });
      for (const reader of [store, await open()]) {
        for (const [n, id] of nastyIds.entries()) {
          const read = await reader.thread("t").get(id);
          exact(
            [read?.state, read?.run, read?.node, read?.label, read?.workflow, read?.next],
            [{ n }, id, id, id, id, [{ node: id }]],
          );
          const [write] = await reader.thread("t").writes(id);
          exact([write?.task, write?.node, write?.channel, write?.value], [id, id, id, id]);
          const nested = reader.thread("t", { namespace: [id, "x"] });
          exact(await idsOf(nested), [id]);
          exact((await nested.get(id))?.state, { n });
        }
      }
    },
  },
  {
    name: "ids: an id that is empty, has NUL, is malformed, too long or no string is a TypeError, and nothing is written",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      await thread.put({ id: "a", state: {} });
      for (const id of wrong as readonly string[]) {
        const name = `the id ${String(id).slice(0, 10)}`;
        await isMisuse(() => store.thread(id).put({ state: {} }), name);
        if (id !== undefined) {
          await isMisuse(() => thread.put({ id, state: {} }), name);
          await isMisuse(() => thread.fork({ into: id }), name);
          if (id !== null) {
            await isMisuse(() => thread.put({ state: {} }, { parent: id }), name);
            await isMisuse(() => thread.put({ state: {} }, { expect: id }), name);
          }
        }
        await isMisuse(() => thread.get(id), name);
        await isMisuse(() => thread.copy(id), name);
        await isMisuse(() => thread.putWrites(id, { task: "t", writes: [] }), name);
        await isMisuse(() => thread.label(id, "l"), name);
        await isMisuse(() => thread.deleteCheckpoints([id]), name);
        await isMisuse(() => thread.deleteRun(id), name);
      }
      exact(await idsOf(thread), ["a"]);
      exact(
        (await collect(store.threads())).map(({ id }) => id),
        ["t"],
      );
    },
  },
  {
    name: "ids: ids made by the store are unique and sort by time; given ids may look like them",
    async run({ open, clock }) {
      const store = await open();
      const made: string[] = [];
      for (let n = 0; n < 200; n++) {
        clock.advance(1);
        made.push((await store.thread(`t${n % 3}`).put({ state: { n } })).id);
      }
      exact([...new Set(made)].sort(), made);
      for (const [n, id] of made.entries()) {
        const stranger = store.thread(`t${(n + 1) % 3}`);
        assert.equal(await stranger.get(id), undefined);
        if (n % 20 === 0) await stranger.put({ id, state: { stranger: n } });
      }
      for (const [n, id] of made.entries()) {
        exact((await store.thread(`t${n % 3}`).get(id))?.state, { n });
        if (n % 20 === 0) exact((await store.thread(`t${(n + 1) % 3}`).get(id))?.state, { stranger: n });
      }
    },
  },
  {
    name: "ids: a given id that the store would make next swallows no commit",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      const { id: first } = await thread.put({ state: { n: 0 } });
      const tail = Number.parseInt(first.slice(-8), 16);
      const guessed = [1, 2, 3, 4, 5, 6].map(
        (more) => first.slice(0, -8) + (tail + more).toString(16).padStart(8, "0"),
      );
      for (const id of guessed.slice(1)) await thread.put({ id, state: { guessed: id } });
      const own: string[] = [];
      for (let n = 0; n < 8; n++) own.push((await thread.put({ state: { n } })).id);
      assert.equal(new Set([first, ...guessed.slice(1), ...own]).size, 14);
      assert.equal(await thread.count(), 14);
      for (const id of guessed.slice(1)) exact((await thread.get(id))?.state, { guessed: id });
      for (const [n, id] of own.entries()) exact((await thread.get(id))?.state, { n });
    },
  },
  {
    name: "ids: ids come from the function given to open",
    async run({ open }) {
      let next = 0;
      const store = await open({ ids: () => `id-${next++}` });
      const thread = store.thread("t");
      for (let n = 0; n < 140; n++) await thread.put({ state: { n } });
      const listed = await idsOf(thread);
      assert.equal(new Set(listed).size, 140);
      assert.ok(
        listed.every((id) => /^id-\d+$/.test(id)),
        "checkpoints take them",
      );
      assert.match((await thread.fork()).id, /^id-\d+$/);
      for (const id of listed) exact((await thread.get(id))?.id, id);
    },
  },
];
