import assert from "node:assert/strict";
import type { Store } from "../../../api/store.ts";
import type { Thread } from "../../../api/thread.ts";
import type { Write } from "../../../model/checkpoint.ts";
import type { WatchedChange } from "../../../model/interface/watched-changes.ts";
import type { Case, Free } from "../../case.ts";
import { exact } from "../../support/exact.ts";

interface Message {
  readonly id: string;
  readonly text: string;
}

const options = { packRows: 4 } as const;

function messageOf(n: number): Message {
  return { id: `m${n}`, text: `${n}: ${"what was said ".repeat(20)}` };
}

/**
 * Takes steps of an agent on a thread: a task saves its message, and the checkpoint that follows holds it. Returns the ids of the
 * checkpoints: the writes of `ids[n]` have the message `n`.
 */
async function steps(thread: Thread<Free>, count: number, apart = false): Promise<string[]> {
  const ids = [(await thread.put({ state: { messages: [], n: 0 } })).id];
  for (let n = 0; n < count; n++) {
    const writes = [{ channel: "messages", value: [messageOf(n)] }];
    const written = thread.putWrites(ids[n] as string, { task: `task ${n}`, writes });
    if (apart) await written;
    ids.push((await thread.put({ update: { append: { messages: [messageOf(n)] }, set: { n } } as never })).id);
    exact(await written, { stored: 1, ignored: 0 });
  }
  return ids;
}

async function checkWrites(thread: Thread<Free>, ids: readonly string[], from: number, to: number): Promise<void> {
  for (let n = from; n < to; n++) {
    exact(valuesOf(await thread.writes(ids[n] as string)), [[messageOf(n)]], `the writes of checkpoint ${n}`);
  }
}

function valuesOf(writes: readonly Write[]): unknown[] {
  return writes.map(({ value }) => value);
}

async function writeBytes(store: Store<Free>): Promise<number> {
  return (await store.measure()).bytes.writes;
}

export const carriedWrites: readonly Case[] = [
  ...[false, true].map((apart) => ({
    name: `carried writes: a write takes no record of its own once the next checkpoint is there, ${apart ? "saved before it" : "saved with it"}`,
    async run({ open }: Parameters<Case["run"]>[0]) {
      const store = await open<Free>(options);
      const ids = await steps(store.thread("t"), 20, apart);
      assert.equal(await writeBytes(store), 0);
      await checkWrites(store.thread("t"), ids, 0, 20);
      exact(valuesOf(await store.thread("t").writes(ids[20] as string)), []);
      const again = await open<Free>(options);
      await checkWrites(again.thread("t"), ids, 0, 20);
      exact(await again.verify(), { ok: true, faults: [] });
    },
  })),
  {
    name: "carried writes: a task that saves again what it saved is ignored, also after sealing",
    async run({ open }) {
      const first = await open<Free>(options);
      const ids = await steps(first.thread("t"), 12);
      const saveAgain = async (each: Thread<Free>): Promise<void> => {
        for (const n of [0, 5, 11]) {
          const input = { task: `task ${n}`, writes: [{ channel: "messages", value: ["another"] }] };
          exact(await each.putWrites(ids[n] as string, input), { stored: 0, ignored: 1 });
        }
        await checkWrites(each, ids, 0, 12);
      };
      await saveAgain(first.thread("t"));
      await first.close();
      const thread = (await open<Free>(options)).thread("t");
      await saveAgain(thread);
      const late = { task: "late", writes: [{ channel: "messages", value: "late" }] };
      exact(await thread.putWrites(ids[5] as string, late), { stored: 1, ignored: 0 });
      exact(valuesOf(await thread.writes(ids[5] as string)), ["late", [messageOf(5)]]);
    },
  },
  {
    name: "carried writes: they stay when the checkpoint that carries them is deleted, and go with their own",
    async run({ open }) {
      const store = await open<Free>(options);
      const thread = store.thread("t");
      const ids = await steps(thread, 14);
      await thread.deleteCheckpoints([ids[3] as string, ids[8] as string, ids[9] as string, ids[14] as string]);
      for (const again of [thread, (await open<Free>(options)).thread("t")]) {
        await checkWrites(again, ids, 0, 3);
        await checkWrites(again, ids, 4, 8);
        await checkWrites(again, ids, 10, 14);
        for (const n of [3, 8, 9]) exact(valuesOf(await again.writes(ids[n] as string)), []);
      }
      await thread.prune({ keepLast: 3 });
      await checkWrites(thread, ids, 11, 14);
      exact(await store.verify(), { ok: true, faults: [] });
    },
  },
  {
    name: "carried writes: a fork shows those of the checkpoint it begins with, whatever becomes of its source",
    async run({ open }) {
      const store = await open<Free>(options);
      const thread = store.thread("t");
      const ids = await steps(thread, 12);
      const fork = await thread.fork({ at: ids[6] as string, into: "fork" });
      await checkWrites(fork, ids, 0, 7);
      const late = { task: "late", writes: [{ channel: "messages", value: "of the source" }] };
      await thread.putWrites(ids[6] as string, late);
      await checkWrites(fork, ids, 0, 7);
      await thread.deleteCheckpoints([ids[6] as string, ids[7] as string]);
      await checkWrites(fork, ids, 0, 7);
      await thread.delete();
      await checkWrites(fork, ids, 0, 7);
      await store.compact();
      await checkWrites(fork, ids, 0, 7);
      await checkWrites((await open<Free>(options)).thread("fork"), ids, 0, 7);
      exact(await store.verify(), { ok: true, faults: [] });
    },
  },
  {
    name: "carried writes: they keep their values when the checkpoint that carries them is replaced and compacted",
    async run({ open }) {
      const store = await open<Free>(options);
      const thread = store.thread("t");
      const ids = await steps(thread, 12);
      for (const n of [3, 7, 12]) await thread.put({ id: ids[n] as string, state: { messages: ["another"], n: -1 } });
      await checkWrites(thread, ids, 0, 12);
      await store.compact();
      await checkWrites(thread, ids, 0, 12);
      exact((await thread.get(ids[7] as string))?.state, { messages: ["another"], n: -1 });
      await checkWrites((await open<Free>(options)).thread("t"), ids, 0, 12);
      exact(await store.verify(), { ok: true, faults: [] });
    },
  },
  {
    name: "carried writes: a file of many with one line edited, and a message that gets its id in the state, take no second copy",
    async run({ open }) {
      const store = await open<Free>(options);
      const thread = store.thread("t");
      const lines = (file: number): string =>
        Array.from({ length: 60 }, (_, n) => `${file}:${n} ${n * 7919}`).join("\n");
      const files = Object.fromEntries([0, 1, 2].map((file) => [`f${file}`, lines(file)]));
      let head = (await thread.put({ state: { files, messages: [] } })).id;
      const before = (await store.measure()).bytes;
      const expected: [string, unknown[]][] = [];
      for (let n = 0; n < 9; n++) {
        const name = `f${n % 3}`;
        files[name] = (files[name] as string).replace(`:${n} `, `: edited ${n} `);
        const message = { text: messageOf(n).text, meta: { n } };
        const writes = [
          { channel: "files", value: { [name]: files[name] } },
          { channel: "messages", value: [message] },
        ];
        expected.push([head, [{ [name]: files[name] }, [message]]]);
        const written = thread.putWrites(head, { task: "edit", writes });
        const update = { set: { files: { ...files } }, append: { messages: [{ ...message, id: `m${n}` }] } };
        head = (await thread.put({ update: update as never })).id;
        await written;
      }
      const { tail, packs, writes, values } = (await store.measure()).bytes;
      const grown = tail + packs + writes + values - (before.tail + before.packs + before.writes + before.values);
      assert.ok(grown < 9 * 1_100, `${grown} bytes`);
      for (const each of [thread, (await open<Free>(options)).thread("t")]) {
        for (const [id, values] of expected) exact(valuesOf(await each.writes(id)), values);
      }
    },
  },
  {
    name: "carried writes: watchers are told of them before the checkpoint, and go on between the two",
    async run({ open }) {
      const store = await open<Free>(options);
      const thread = store.thread("t");
      const { id: a } = await thread.put({ id: "a", state: { messages: [] } });
      const watch = store.watch();
      const written = thread.putWrites(a, { task: "t", writes: [{ channel: "messages", value: [messageOf(0)] }] });
      await thread.put({ id: "b", update: { append: { messages: [messageOf(0)] } } as never });
      await written;
      const told = [await watch.next(), await watch.next()].map(({ value }) => value as WatchedChange);
      await watch.return();
      exact(
        told.map(({ kind, id }) => [kind, id]),
        [
          ["writes", "a"],
          ["put", "b"],
        ],
      );
      const rest = store.watch({ after: (told[0] as WatchedChange).cursor });
      const { value: next } = await rest.next();
      exact([next?.kind, next?.id], ["put", "b"]);
      await rest.return();
    },
  },
  {
    name: "carried writes: a value that is erased from the states is erased from them, too",
    async run({ open }) {
      const store = await open<Free>(options);
      const thread = store.thread("t");
      const ids = await steps(thread, 9);
      const { text } = messageOf(4);
      await thread.erase((_path, value) => value === text);
      for (const each of [thread, (await open<Free>(options)).thread("t")]) {
        await checkWrites(each, ids, 0, 4);
        await checkWrites(each, ids, 5, 9);
        const [written = []] = valuesOf(await each.writes(ids[4] as string)) as (readonly Message[])[];
        assert.equal(written[0]?.id, "m4");
        assert.notEqual(written[0]?.text, text);
      }
      exact(await store.verify(), { ok: true, faults: [] });
    },
  },
  {
    name: "carried writes: a bundle has their values",
    async run({ open }) {
      const store = await open<Free>(options);
      const ids = await steps(store.thread("t"), 9);
      const lines: string[] = [];
      for await (const line of store.export()) lines.push(line);
      await store.thread("t").delete();
      exact((await store.import(lines)).imported, 1);
      await checkWrites(store.thread("t"), ids, 0, 9);
    },
  },
];
