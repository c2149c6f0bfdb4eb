import { expect, test } from "vitest";
import { mailboxOf } from "../../../src/api/mailbox.ts";
import { memory } from "../../../src/backends/memory/index.ts";
import { open, type Store } from "../../../src/index.ts";
import { forwarding, oneLineage } from "../../../src/testing/index.ts";

interface Place {
  readonly store: Store<unknown>;
  stopped: boolean;
}

/** A store where early messages wait for "into", and where commits that make a fork fail while it is `stopped`. */
async function withEarlyMail(): Promise<Place> {
  const backend = oneLineage(memory());
  const place: { stopped: boolean; store?: Store<unknown> } = { stopped: true };
  const isFork = (batch: { readonly log?: { readonly lines: readonly { readonly text: string }[] } }): boolean =>
    batch.log?.lines.some(({ text }) => text.includes('"fork"')) ?? false;
  place.store = await open(
    forwarding(backend, {
      commit: async (batches) => {
        if (place.stopped && batches.some(isFork)) throw new Error("stopped between the two commits");
        return backend.commit(batches);
      },
    }),
  );
  await place.store.thread("source").put({ state: { n: 1 } });
  for (const id of ["a", "b"]) {
    await mailboxOf(place.store.thread("into")).send({ id, kind: "signal", payload: id }, { early: true });
  }
  await expect(place.store.thread("source").fork({ into: "into" })).rejects.toThrow("stopped between");
  return place as Place;
}

async function waiting({ store }: Place): Promise<readonly string[]> {
  return (await mailboxOf(store.thread("into")).pending()).map(({ id }) => id);
}

test("messages to a thread that made way for a fork wait for the fork, though the first attempt stopped halfway", async () => {
  const place = await withEarlyMail();
  place.stopped = false;
  await place.store.thread("source").fork({ into: "into" });
  expect(await waiting(place)).toEqual(["a", "b"]);
  expect((await place.store.verify()).faults).toEqual([]);
});

test("messages to a thread that made way are taken over by a put, a lease or another message as well", async () => {
  const takes: readonly ((place: Place) => Promise<unknown>)[] = [
    ({ store }) => store.thread("into").put({ state: {} }),
    ({ store }) => store.thread("into").acquire(),
    ({ store }) => mailboxOf(store.thread("into")).send({ id: "a", kind: "signal" }, { early: true }),
  ];
  for (const take of takes) {
    const place = await withEarlyMail();
    await take(place);
    expect(await waiting(place)).toEqual(["a", "b"]);
    await mailboxOf(place.store.thread("into")).send({ id: "c", kind: "signal" });
    expect(await waiting(place)).toEqual(["a", "b", "c"]);
    expect((await place.store.verify()).faults).toEqual([]);
  }
});

test("a put that makes the thread anew can use a message that waited", async () => {
  const place = await withEarlyMail();
  await mailboxOf(place.store.thread("into")).put({ state: {} }, { consume: ["a"] });
  expect(await waiting(place)).toEqual(["b"]);
  expect((await place.store.verify()).faults).toEqual([]);
});

test("an import takes the messages over that wait for its thread", async () => {
  const place = await withEarlyMail();
  await using other = await open("memory:");
  await other.thread("into").put({ state: { n: 2 } });
  await mailboxOf(other.thread("into")).send({ id: "c", kind: "signal" });
  await place.store.import(other.export());
  expect(await waiting(place)).toEqual(["a", "b", "c"]);
  expect((await place.store.verify()).faults).toEqual([]);
});
