import { expect, it } from "vitest";
import { open } from "../../../src/api/open.ts";
import type { Backend, Entry, Found, Value } from "../../../src/backend.ts";
import { metaKey } from "../../../src/engine/records/keys.ts";
import { decodeMeta, encodeMeta, type Meta } from "../../../src/engine/records/meta.ts";
import { decodeDirectory, encodeDirectory } from "../../../src/engine/records/store-wide/directory.ts";
import { backendOf } from "../../support/backend-of.ts";
import { campaignLocations, locations, type Place } from "../../support/places.ts";

interface State {
  readonly of: string;
  readonly [counter: string]: unknown;
}

async function tapeOf(backend: Backend, id: string): Promise<{ readonly tape: number; readonly lineage: number }> {
  const [value] = await backend.read([{ get: { table: "directory", id } }]);
  return decodeDirectory(value as Value) as Required<ReturnType<typeof decodeDirectory>>;
}

/** Gives the tape of a fork without rows of its own the number of another thread's, as earlier versions could. */
async function shareNumber(place: Place, fork: string, other: string): Promise<void> {
  const backend = await backendOf(place);
  const { tape: before, lineage } = await tapeOf(backend, fork);
  const { tape: after } = await tapeOf(backend, other);
  const [found] = await backend.read([{ scan: { table: "meta", lineage, group: lineage } }]);
  const puts: Entry[] = (found as readonly Found[]).map(({ item, value }) => {
    const meta = decodeMeta(value);
    const moved: Meta = meta.origin?.tape === before ? { ...meta, origin: { ...meta.origin, tape: after } } : meta;
    return { key: metaKey(lineage, item === before ? after : item), value: encodeMeta(moved) };
  });
  puts.push({ key: { table: "directory", id: fork }, value: encodeDirectory({ tape: after, lineage }) });
  // Puts are not refused; inserts would be.
  expect(await backend.commit([{ deletes: [metaKey(lineage, before)], puts }])).toEqual([true]);
  await backend.close();
}

async function makeThreads(place: Place): Promise<void> {
  const store = await open<State>(place.url, place.options);
  for (const id of ["a", "c"]) await store.thread(id).put({ state: { of: id } });
  await store.thread("a").fork({ into: "b" });
  await store.thread("b").fork({ into: "e" });
  await store.close();
}

const shared = (thread: string): unknown =>
  expect.objectContaining({ thread, message: expect.stringContaining("its tape has the number") });

it.each(campaignLocations)("verify names both threads whose tapes share a number, on $name", async (backend) => {
  const place = await backend.make();
  await makeThreads(place);
  await shareNumber(place, "b", "c");
  const store = await open<State>(place.url, place.options);
  const { ok, faults } = await store.verify();
  expect(ok).toBe(false);
  expect(faults).toEqual(expect.arrayContaining([shared("b"), shared("c")]));
  expect(faults.filter(({ message }) => message.includes("its tape has the number"))).toHaveLength(2);
  await store.close();
  await place.cleanup();
});

it.each(campaignLocations)("verify names a deleted thread whose tape shares a number, on $name", async (backend) => {
  const place = await backend.make();
  await makeThreads(place);
  await shareNumber(place, "b", "c");
  const deleting = await backendOf(place);
  const { tape, lineage } = await tapeOf(deleting, "b");
  const [value] = await deleting.read([{ get: metaKey(lineage, tape) }]);
  const dead = encodeMeta({ ...decodeMeta(value as Value), dead: true });
  await deleting.commit([
    { deletes: [{ table: "directory", id: "b" }], puts: [{ key: metaKey(lineage, tape), value: dead }] },
  ]);
  await deleting.close();
  const store = await open<State>(place.url, place.options);
  expect((await store.verify()).faults).toEqual(expect.arrayContaining([shared("b"), shared("c")]));
  await store.close();
  await place.cleanup();
});

/** Backends whose own keys tell lineages apart: elsewhere such a store holds the records of both under one key. */
const apart = locations.filter(({ name }) => name === "file" || name === "postgres");

it.each(apart)("a store remembers tapes that share a number apart from each other, on $name", async (backend) => {
  const place = await backend.make();
  await makeThreads(place);
  await shareNumber(place, "b", "c");
  for (let round = 1; round <= 2; round += 1) {
    const store = await open<State>(place.url, place.options);
    const threads = ["b", "c", "e"].map((id) => store.thread(id));
    for (const thread of threads) await thread.latest();
    for (let n = 1; n <= 70; n += 1)
      for (const thread of threads) await thread.put({ update: { set: { [thread.id]: n * round } } });
    for (const [id, of] of Object.entries({ b: "a", c: "c", e: "a" })) {
      const thread = store.thread(id);
      expect((await thread.latest())?.state).toEqual({ of, [id]: 70 * round });
      expect(await thread.count()).toBe(1 + 70 * round);
      for await (const { state } of thread.history({ states: true })) expect(state.of).toBe(of);
    }
    const listed: [string, number][] = [];
    for await (const { id, checkpoints } of store.threads()) listed.push([id, checkpoints]);
    expect(listed).toEqual([["a", 1], ...["b", "c", "e"].map((id) => [id, 1 + 70 * round])]);
    await store.close();
  }
  await place.cleanup();
});
