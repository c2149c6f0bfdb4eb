import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { Backend, Batch } from "../../src/backend.ts";
import { EncryptedBackend } from "../../src/engine/encryption/encrypted-backend.ts";
import { open, type Store, ThreadmarkError } from "../../src/index.ts";
import { forwarding, sharedMemory } from "../../src/testing/index.ts";
import { damage } from "../support/damaged-records.ts";

const one = randomBytes(32);
const two = randomBytes(32);
const before = { current: "one", keys: { one } };
const both = { current: "two", keys: { one, two } };
const after = { current: "two", keys: { two } };
const small = { packRows: 3, largeValues: { from: 300 } };

interface State {
  readonly n: number;
  readonly text: string;
}

async function fill(store: Store<State>): Promise<void> {
  for (const id of ["a", "b"]) {
    const thread = store.thread(id);
    for (let n = 0; n < 8; n += 1)
      await thread.put({ state: { n, text: `${id}${n}`.repeat(n === 3 ? 200 : 1) }, id: `${id}${n}` });
    await thread.label(`${id}1`, "first");
    await thread.putWrites(`${id}7`, { task: "t", writes: [{ channel: "c", value: id }] });
  }
  await store.thread("a").fork({ into: "f", at: { step: 4 }, edits: { n: 99 } });
  await store.thread("gone").put({ state: { n: 0, text: "" } });
  await store.thread("gone").delete();
}

async function contents(store: Store<State>): Promise<string> {
  const all: unknown[] = [];
  for await (const { id } of store.threads()) {
    for await (const { state, id: checkpoint, label } of store.thread(id).history({ states: true })) {
      all.push([id, checkpoint, label, state, await store.thread(id).writes(checkpoint)]);
    }
  }
  return JSON.stringify(all);
}

async function isSound(store: Store<State>): Promise<void> {
  expect(await store.verify()).toEqual({ ok: true, faults: [] });
}

/** Returns the batches that some work commits to a place. */
async function commitsOf(place: Backend, work: (place: Backend) => Promise<unknown>): Promise<readonly Batch[]> {
  const batches: Batch[] = [];
  await work(
    forwarding(place, {
      commit: async (list) => {
        for (const batch of list) batches.push(batch);
        return place.commit(list);
      },
    }),
  );
  return batches;
}

describe("rotation", () => {
  test("rotate wraps every data key by the current key, and the earlier key is needed no more", async () => {
    const place = sharedMemory();
    const store = await open<State>(place, { encryption: before, ...small });
    await fill(store);
    const truth = await contents(store);
    const rotating = await open<State>(place, { encryption: both, ...small });
    const batches = await commitsOf(place, async (counted) => {
      const told = await open<State>(counted, { encryption: both, ...small });
      expect(await told.rotate()).toEqual({ wrapped: 2, rewritten: 0 });
    });
    // Only the meta records and the store's own record are written.
    expect(new Set(batches.flatMap(({ puts = [] }) => puts.map(({ key }) => key.table)))).toEqual(
      new Set(["meta", "head"]),
    );
    expect(await rotating.rotate()).toEqual({ wrapped: 0, rewritten: 0 });
    const rotated = await open<State>(place, { encryption: after, ...small });
    expect(await contents(rotated)).toBe(truth);
    await isSound(rotated);
    await expect((await open(place, { encryption: before })).thread("a").latest()).rejects.toThrow(
      expect.objectContaining({ code: "KEY" }),
    );
    // A store that was open meanwhile goes on.
    await rotating.thread("a").put({ update: { set: { n: 100 } } });
    await rotated.thread("f").put({ update: { set: { n: 101 } } });
    expect((await rotated.thread("a").latest())?.state.n).toBe(100);
  });

  test("rotate with data writes every record anew, under new data keys", async () => {
    const place = sharedMemory();
    const store = await open<State>(place, { encryption: both, ...small });
    await fill(store);
    const truth = await contents(store);
    await store.close();
    const { tables } = await place.size();
    const batches = await commitsOf(place, async (counted) => {
      const rotating = await open<State>(counted, { encryption: both, ...small });
      expect(await rotating.rotate({ data: true })).toEqual({ wrapped: 0, rewritten: 2 });
    });
    const written = new Set(batches.flatMap(({ puts = [] }) => puts.map(({ key }) => JSON.stringify(key))));
    const records = Object.entries(tables).filter(([table]) => !["directory", "entry", "log"].includes(table));
    expect(written.size).toBe(records.reduce((sum, [, { records: count }]) => sum + count, 0));
    const rotated = await open<State>(place, { encryption: after, ...small });
    expect(await contents(rotated)).toBe(truth);
    await isSound(rotated);
  });

  test("a rotation that is killed at any commit leaves a store that reads, and goes on when it is called again", async () => {
    for (const data of [false, true]) {
      for (let survives = 0; ; survives += 1) {
        const place = sharedMemory();
        await fill(await open<State>(place, { encryption: before, ...small }));
        const truth = await contents(await open<State>(place, { encryption: before, ...small }));
        let commits = 0;
        const dying = forwarding(place, {
          commit: async (batches) => {
            commits += 1;
            if (commits > survives) throw new ThreadmarkError("BACKEND", "Killed. Begin again.", { committed: false });
            return place.commit(batches);
          },
        });
        const killed = await open<State>(dying, { encryption: both, ...small });
        const outcome = await killed.rotate({ data }).catch((error: unknown) => error);
        const next = await open<State>(place, { encryption: both, ...small });
        expect(await contents(next)).toBe(truth);
        await next.thread("a").put({ update: { set: { n: 5 } } });
        await next.rotate({ data });
        const rotated = await open<State>(place, { encryption: after, ...small });
        expect((await rotated.thread("a").latest())?.state.n).toBe(5);
        await isSound(rotated);
        if (!(outcome instanceof Error)) break;
      }
    }
  });

  test("puts, forks, prunes and deletes go on while everything is written anew", async () => {
    const place = sharedMemory();
    const writer = await open<State>(place, { encryption: both, ...small });
    const rotator = await open<State>(place, { encryption: both, ...small });
    await fill(writer);
    let rotating = true;
    const work = (async () => {
      let n = 1000;
      for (; rotating; n += 1) {
        await writer.thread("a").put({ state: { n, text: `w${n}`.repeat(n % 5 === 0 ? 100 : 1) } });
        await writer.thread("f").put({ update: { set: { n } } });
        if (n % 7 === 0) await writer.thread("b").fork({ into: `b${n}` });
        if (n % 9 === 0) await writer.thread("b").prune({ keepLast: 3 });
        await new Promise((resolve) => setImmediate(resolve));
      }
      return n - 1;
    })();
    for (let round = 0; round < 4; round += 1) await rotator.rotate({ data: true });
    rotating = false;
    const last = await work;
    const store = await open<State>(place, { encryption: after, ...small });
    expect((await store.thread("a").latest())?.state.n).toBe(last);
    expect((await store.thread("f").latest())?.state.n).toBe(last);
    await isSound(store);
  });

  test("a store that is not encrypted is encrypted by migrating and rotate, and takes no plain record afterwards", async () => {
    const place = sharedMemory();
    const plain = await open<State>(place, small);
    await fill(plain);
    const truth = await contents(plain);
    await expect((await open(place, { encryption: after })).thread("a").latest()).rejects.toThrow(
      expect.objectContaining({ code: "KEY" }),
    );
    const migrating = await open<State>(place, { encryption: { ...after, migrating: true }, ...small });
    expect(await contents(migrating)).toBe(truth);
    await migrating.thread("new").put({ state: { n: 1, text: "new" } });
    await migrating.thread("a").label("a2", "second");
    expect(await migrating.rotate()).toEqual({ wrapped: 0, rewritten: 2 });
    await isSound(migrating);
    const store = await open<State>(place, { encryption: after, ...small });
    await isSound(store);
    expect((await store.thread("a").get({ label: "second" }))?.id).toBe("a2");
    expect((await store.thread("new").latest())?.state.n).toBe(1);
    await store.thread("b").put({ update: { set: { n: 7 } } });
    expect((await store.thread("b").latest())?.state.n).toBe(7);
    await expect((await open(place)).thread("a").latest()).rejects.toThrow(expect.objectContaining({ code: "KEY" }));
  });

  test("rotate stops at a signal, tells how far it is, and is KEY without keys", async () => {
    const place = sharedMemory();
    await fill(await open<State>(place, { encryption: before, ...small }));
    const store = await open<State>(place, { encryption: both, ...small });
    const stop = new AbortController();
    const seen: number[] = [];
    const progress = (threads: number): void => {
      seen.push(threads);
      stop.abort(new Error("enough"));
    };
    await expect(store.rotate({ data: true, progress, signal: stop.signal })).rejects.toThrow("enough");
    expect(seen).toEqual([1]);
    expect(await store.rotate({ data: true })).toEqual({ wrapped: 0, rewritten: 1 });
    await expect((await open("memory:")).rotate()).rejects.toThrow(expect.objectContaining({ code: "KEY" }));
    await expect(store.rotate({ all: true } as never)).rejects.toThrow(TypeError);
  });
});

test("a rotation leaves a damaged thread its keys, rotates all others, and then names the damaged one", async () => {
  const place = sharedMemory();
  await fill(await open<State>(place, { encryption: before, ...small }));
  await damage(place, "b", "rows", new EncryptedBackend(place, before));
  const store = await open<State>(place, { encryption: both, ...small });
  await expect(store.rotate()).resolves.toMatchObject({ wrapped: 2 });
  await expect(store.rotate({ data: true })).rejects.toMatchObject({
    code: "CORRUPT",
    threads: ["b"],
    message: expect.stringContaining("keep the earlier keys") as string,
  });
});
