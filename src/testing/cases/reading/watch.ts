import assert from "node:assert/strict";
import { mailboxOf } from "../../../api/mailbox.ts";
import type { WatchedChange } from "../../../model/interface/watched-changes.ts";
import type { Case } from "../../case.ts";
import { exact } from "../../support/exact.ts";
import { failsWith, isMisuse } from "../../support/failures.ts";

/** Milliseconds in which a change must come: far more than it takes, so that a busy machine does not count as a fault. */
const SOON = 10_000;

type Changes = AsyncIterator<WatchedChange, void>;

async function take(watch: Changes, count: number): Promise<readonly WatchedChange[]> {
  const taken: WatchedChange[] = [];
  while (taken.length < count) {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new assert.AssertionError({ message: `only ${taken.length} changes` })), SOON);
    });
    const next = await Promise.race([watch.next(), late]).finally(() => clearTimeout(timer));
    if (next.done) assert.fail(`the watch ended after ${taken.length} changes`);
    taken.push(next.value);
  }
  return taken;
}

const brief = ({ kind, thread, id }: WatchedChange): readonly unknown[] => [kind, thread, id];

/** Hearing of commits as they are made. */
export const watch: readonly Case[] = [
  {
    name: "watch: every kind of change is told in its order, with what it is about",
    async run({ open }) {
      const store = await open();
      const changes = store.watch();
      const thread = store.thread("t");
      const nested = store.thread("t", { namespace: ["a", "b"] });
      const a = await thread.put({ id: "a", state: {} });
      const n = await nested.put({ id: "n", state: {} });
      await thread.putWrites("a", { task: "x", writes: [{ channel: "c", value: 1 }] });
      const b = await thread.put({ id: "b", state: {} });
      await thread.label("a", "named");
      await thread.put({ id: "a", state: { replaced: true } });
      await thread.fork({ at: "a", into: "fork" });
      await thread.copy("copy");
      await mailboxOf(thread).send({ id: "m", kind: "signal" });
      await thread.setAttributes({ tier: "gold" });
      const told = await take(changes, 10);
      exact(
        told.map(({ kind, thread: of, namespace, id, seq }) => [kind, of, namespace, id, seq]),
        [
          ["put", "t", [], "a", a.seq],
          ["put", "t", ["a", "b"], "n", n.seq],
          ["writes", "t", [], "a", n.seq],
          ["put", "t", [], "b", b.seq],
          ["label", "t", [], "a", a.seq],
          ["put", "t", [], "a", a.seq],
          ["fork", "fork", [], "a", b.seq],
          ["fork", "copy", [], null, b.seq],
          ["mail", "t", [], "m", b.seq],
          ["attributes", "t", [], null, b.seq],
        ],
      );
      assert.equal(new Set(told.map(({ cursor }) => cursor)).size, 10);
      await store.thread("copy").prune({ keepLast: 1 });
      await store.thread("fork").deleteCheckpoints(["a"]);
      await thread.delete();
      exact((await take(changes, 3)).map(brief), [
        ["prune", "copy", null],
        ["prune", "fork", null],
        ["delete", "t", null],
      ]);
      await changes.return();
      exact(await changes.next(), { done: true, value: undefined });
    },
  },
  {
    name: "watch: it begins with the call, and changes from before are not told",
    async run({ open }) {
      const store = await open();
      await store.thread("t").put({ id: "before", state: {} });
      const changes = store.watch();
      await store.thread("t").put({ id: "after", state: {} });
      await store.thread("u").put({ id: "other", state: {} });
      const told = (await take(changes, 2)).map(({ thread, id }) => `${thread}:${id}`);
      // Changes of two threads have no order.
      exact(told.toSorted(), ["t:after", "u:other"]);
      await changes.return();
    },
  },
  {
    name: "watch: another store's puts are told, each once and in order, though most of them leave no line",
    async run({ open }) {
      const writer = await open();
      await writer.thread("t").put({ id: "0", state: {} });
      const reader = await open();
      const changes = reader.watch();
      await changes.cursor();
      const ids = Array.from({ length: 150 }, (_, n) => String(n + 1));
      const writing = (async () => {
        for (const id of ids) await writer.thread("t").put({ id, state: { id } });
      })();
      exact(
        (await take(changes, ids.length)).map(({ id }) => id),
        ids,
      );
      await writing;
      await changes.return();
    },
  },
  {
    name: "watch: a cursor goes on behind its change, in another store too, with no change left out and none twice",
    async run({ open }) {
      const store = await open();
      const first = store.watch();
      for (let n = 0; n < 4; n += 1) {
        await store.thread("t").put({ id: `t${n}`, state: {} });
        await store.thread("u").put({ id: `u${n}`, state: {} });
        await store.thread("t").putWrites(`t${n}`, { task: "x", writes: [{ channel: "c", value: n }] });
        await store.thread("u").label(`u${n}`, `label ${n}`);
      }
      const told = await take(first, 16);
      await first.return();
      const other = await open();
      for (const [index, { cursor }] of told.entries()) {
        const rest = other.watch({ after: cursor });
        const left = (await take(rest, told.length - index - 1)).map(brief);
        for (const thread of ["t", "u"]) {
          const of = (list: readonly (readonly unknown[])[]): unknown => list.filter(([, id]) => id === thread);
          exact(of(left), of(told.slice(index + 1).map(brief)));
        }
        const later = await rest.cursor();
        await rest.return();
        if (index < told.length - 1) continue;
        await store.thread("v").put({ id: "v", state: {} });
        const again = other.watch({ after: later });
        exact((await take(again, 1)).map(brief), [["put", "v", "v"]]);
        await again.return();
      }
    },
  },
  {
    name: "watch: thread, workflow and kinds choose the changes",
    async run({ open }) {
      const store = await open();
      const watches = [
        store.watch({ thread: "a" }),
        store.watch({ workflow: "w" }),
        store.watch({ kinds: ["label", "delete"] }),
        store.watch({ thread: "b", kinds: ["put"] }),
      ];
      for (const [id, workflow] of [
        ["a", "w"],
        ["b", "x"],
        ["c", "w"],
      ] as const) {
        const thread = store.thread(id);
        await thread.put({ id: `${id}1`, state: {}, workflow });
        await thread.putWrites(`${id}1`, { task: "x", writes: [{ channel: "c", value: 1 }] });
        await thread.label(`${id}1`, "label");
        await thread.put({ id: `${id}2`, state: {} });
        if (id === "c") await thread.delete();
      }
      const counts = [4, 7, 4, 2];
      const told: string[][] = [];
      for (const [index, changes] of watches.entries()) {
        const list = await take(changes, counts[index] ?? 0);
        told.push(list.map(({ kind, id, thread }) => `${kind}:${id ?? thread}`));
        await changes.return();
      }
      exact(told[0], ["put:a1", "writes:a1", "label:a1", "put:a2"]);
      // The checkpoints of a deleted thread are gone before they are told. Changes of two threads have no order.
      exact(told[1]?.toSorted(), [...(told[0] ?? []), "writes:c1", "label:c1", "delete:c"].toSorted());
      exact(told[2], ["label:a1", "label:b1", "label:c1", "delete:c"]);
      exact(told[3], ["put:b1", "put:b2"]);
    },
  },
  {
    name: "watch: an abort ends it, and so does the end of the store",
    async run({ open }) {
      const store = await open();
      const controller = new AbortController();
      const waiting = [
        store.watch({ signal: controller.signal }).next(),
        store.watch({ signal: AbortSignal.abort() }).next(),
      ];
      controller.abort();
      for (const result of await Promise.all(waiting)) exact(result, { done: true, value: undefined });
      const changes = store.watch();
      const last = changes.next();
      await store.close();
      exact(await last, { done: true, value: undefined });
      await failsWith("CLOSED", () => store.watch());
    },
  },
  {
    name: "watch: a cursor that is past the horizon is EXPIRED",
    async run({ open, clock }) {
      const store = await open();
      const changes = store.watch();
      await store.thread("t").put({ id: "a", state: {} });
      const [first] = await take(changes, 1);
      await store.thread("t").label("a", "one");
      await store.thread("t").label("a", "two");
      clock.advance(25 * 60 * 60 * 1000);
      await store.thread("t").label("a", "three");
      await store.compact();
      await failsWith("EXPIRED", () => store.watch({ after: first?.cursor ?? "" }).next());
      await changes.return();
    },
  },
  {
    name: "watch: wrong options and foreign cursors are a TypeError in the call",
    async run({ open }) {
      const store = await open();
      const call = (options: unknown) => () => store.watch(options as object);
      for (const options of [
        null,
        { threads: "t" },
        { thread: "" },
        { workflow: 1 },
        { kinds: [] },
        { kinds: ["puts"] },
        { after: 1 },
        { after: "nonsense" },
        { after: Buffer.from("[1,2]").toString("base64url") },
        { signal: {} },
      ]) {
        await isMisuse(call(options), JSON.stringify(options));
      }
      const changes = store.watch({ thread: "t" });
      const cursor = await changes.cursor();
      await changes.return();
      await isMisuse(call({ after: cursor }));
      await isMisuse(call({ after: cursor, thread: "t", kinds: ["put"] }));
      await store.watch({ after: cursor, thread: "t" }).return();
    },
  },
];
