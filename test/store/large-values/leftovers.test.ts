import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { beforeAll, expect, test } from "vitest";
import { open } from "../../../src/api/open.ts";
import type { Backend, Key } from "../../../src/backend.ts";
import { memory } from "../../../src/backends/memory/index.ts";
import { newObjectName, recordOfObject } from "../../../src/engine/records/values.ts";
import type { Store, StoreOptions } from "../../../src/index.ts";
import { forwarding, sharedMemory } from "../../../src/testing/index.ts";
import { Mortal, Objects } from "./stops.ts";
import { documentOf } from "./support.ts";

type State = Record<string, unknown>;

let collect: () => void;
beforeAll(() => {
  setFlagsFromString("--expose-gc");
  collect = runInNewContext("gc") as () => void;
});

const nextWeek = (): number => Date.now() + 7 * 24 * 3_600_000;

function opened(backend: Backend, driver: Objects, more: StoreOptions = {}): Promise<Store<State>> {
  return open<State>(backend, { cacheBytes: 100_000, largeValues: { from: 100, driver }, ...more });
}

async function fill(store: Store<State>, threads: number, values: number): Promise<void> {
  for (let n = 0; n < threads; n += 1) {
    const state = Object.fromEntries(
      Array.from({ length: values }, (_, at) => [`f${at}`, documentOf(120, `${n} ${at}`)]),
    );
    await store.thread(`t${n}`).put({ state });
  }
}

/** Uploads objects whose commits never came. */
async function leave(objects: Objects, count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    const name = newObjectName(1 + (n % 40), Buffer.from(`value ${n}`.padEnd(32)).toString("base64url"));
    await objects.put(name, new Uint8Array(1));
  }
}

test("a compaction of 20,000 objects outside the store holds few of their names", async () => {
  const objects = new Objects();
  const backend = memory();
  let most = 0;
  const watched = forwarding(backend, {
    read: (reads) => {
      most = Math.max(most, reads.length);
      return backend.read(reads);
    },
  });
  const store = await opened(watched, objects, { clock: nextWeek });
  await fill(store, 200, 100);
  const named = [...objects.all.keys()].sort();
  expect(named.length).toBe(20_000);
  await leave(objects, 1_000);
  // Names are held as long as objects are listed: 20,000 names in a set are more than 2 MB.
  const inner = objects.list.bind(objects);
  let grown = Number.NaN;
  objects.list = async function* () {
    collect();
    grown = process.memoryUsage().heapUsed - before;
    yield* inner();
  };
  let before = 0;
  // The memory that a store has after its first compaction counts for nothing.
  await store.compact();
  await leave(objects, 1_000);
  most = 0;
  collect();
  before = process.memoryUsage().heapUsed;
  await store.compact();
  expect(grown).toBeLessThan(1_000_000);
  expect(most).toBeLessThanOrEqual(128);
  expect([...objects.all.keys()].sort()).toEqual(named);
  await store.close();
});

test("objects are swept by a compaction that goes on behind another's last thread", async () => {
  const objects = new Objects();
  const store = await opened(memory(), objects, { clock: nextWeek });
  await fill(store, 3, 5);
  const named = [...objects.all.keys()];
  await leave(objects, 10);
  await store.compact({ after: "t1" });
  expect([...objects.all.keys()]).toEqual(named);
  await store.close();
});

test("a sweep keeps objects whose record is damaged, whose name no store has made, or that are younger than a day", async () => {
  const objects = new Objects();
  const place = memory();
  const store = await opened(place, objects);
  await fill(store, 1, 3);
  const [first] = [...objects.all.keys()];
  const key = recordOfObject(first as string) as Key;
  const [value] = await place.read([{ get: key }]);
  expect(value).toContain(first);
  await objects.put("made-by-somebody-else", new Uint8Array(1));
  await leave(objects, 5);
  const all = [...objects.all.keys()];
  await store.compact();
  expect([...objects.all.keys()]).toEqual(all);
  const puts = [{ key, value: `${value}!` }];
  await place.commit([{ checks: [], deletes: [], inserts: [], puts }]);
  const other = await opened(place, objects, { clock: nextWeek });
  await expect(other.compact()).rejects.toMatchObject({ code: "CORRUPT" });
  expect([...objects.all.keys()]).toEqual(all);
});

test("a process that ends while it sweeps objects leaves the rest to the next compaction", async () => {
  let ended = 0;
  for (let at = 1; ; at += 1) {
    for (const after of [false, true]) {
      const objects = new Objects();
      const place = sharedMemory();
      const first = await opened(place, objects);
      await fill(first, 4, 5);
      await first.close();
      const named = [...objects.all.keys()];
      await leave(objects, 70);
      const mortal = new Mortal(at, after);
      const dying = await open<State>(mortal.backend(place), {
        clock: nextWeek,
        largeValues: { from: 100, driver: mortal.driver(objects) },
      });
      await Promise.race([dying.compact(), mortal.ended]);
      if (mortal.isDead) ended += 1;
      const store = await opened(place, objects, { clock: nextWeek });
      expect(await store.verify()).toEqual({ ok: true, faults: [] });
      await store.compact();
      expect([...objects.all.keys()]).toEqual(named);
      expect(await store.verify()).toEqual({ ok: true, faults: [] });
      await store.close();
    }
    if (ended < 2 * at) break;
  }
  expect(ended).toBeGreaterThan(2 * 70);
});
