import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { open, type Store, type StoreOptions } from "../../../src/index.ts";
import { collect } from "../../support/collect.ts";
import { fileUnderTest, type Place, postgresUnderTest, redisUnderTest, sqliteUnderTest } from "../../support/places.ts";
import { fill, fillOptions, storeOptions, type Work, works } from "./upkeep-works.ts";

type State = Record<string, unknown>;

/** When a process kills itself: before a commit, as it is under way, or after it. */
const moments = ["before", "during", "after"] as const;
type Moment = (typeof moments)[number];

const dying = fileURLToPath(new URL("./dying.ts", import.meta.url));

/** Does some work in a process that kills itself at a commit. Resolves to whether it came to its end before that. */
async function died(place: Place, work: Work, commit: number, moment: Moment, time: number): Promise<boolean> {
  const about = [work, String(commit), moment, String(time)];
  const parameters = [dying, String(place.url), JSON.stringify(place.options ?? {}), ...about];
  return new Promise((resolve, reject) => {
    execFile(process.execPath, parameters, (error, out, errors) => {
      if (error && error.signal !== "SIGKILL") reject(new Error(errors, { cause: error }));
      else resolve(out.includes("done"));
    });
  });
}

/** Opens a place for a while. */
async function using<T>(place: Place, options: StoreOptions, use: (store: Store<State>) => Promise<T>): Promise<T> {
  const store = await open<State>(place.url as string, { ...place.options, ...options });
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

/** Returns everything that threads show, each as one text. */
async function contentsOf(store: Store<State>): Promise<ReadonlyMap<string, string>> {
  const contents = new Map<string, string>();
  for (const { id } of await collect(store.threads())) {
    const checkpoints = await collect(store.thread(id).history({ states: true }));
    const writes = await store.thread(id).writesOf(checkpoints);
    // Ids tell the tape, which is another at every place.
    const shown = checkpoints.map(({ id: checkpoint, seq, label, state }) => [
      seq,
      label,
      state,
      writes.get(checkpoint),
    ]);
    contents.set(id, JSON.stringify(shown));
  }
  return contents;
}

async function faultsOf(store: Store<State>): Promise<readonly unknown[]> {
  return (await store.verify()).faults.filter(({ message }) => !/cut short by a crash/.test(message));
}

/** Compares the contents after a kill with those before and after the work: each thread is as in one of them. */
function expectWhole(
  now: ReadonlyMap<string, string>,
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
) {
  for (const [id, content] of now) expect([before.get(id), after.get(id)]).toContain(content);
  for (const id of after.keys()) expect(now.has(id)).toBe(true);
}

/** Kills for each work: each takes a process. */
const backends = [
  [sqliteUnderTest, 9],
  [fileUnderTest, 6],
  [postgresUnderTest, 6],
  [redisUnderTest, 6],
] as const;

for (const [backend, most] of backends) {
  test.each(Object.keys(works) as Work[])(
    `%s, killed before, during or after its commits, leaves a store that reads, and goes on when it is done again (${backend.name})`,
    { timeout: 240_000 },
    async (work) => {
      const options = works[work];
      const [place, other] = [await backend.make(), await backend.make()];
      const before = await using(place, fillOptions(work), async (store) => {
        await fill(store);
        return contentsOf(store);
      });
      // A whole run at a place of its own tells how the threads are afterwards.
      await using(other, fillOptions(work), fill);
      const after = await using(other, storeOptions(work, 0), async (store) => {
        await options.run(store);
        return contentsOf(store);
      });
      let kills = 0;
      for (let isDone = false; !isDone && kills < most; ) {
        // A later commit each time, and at first the first one: each killed process goes on from those before it.
        const moment = moments[kills % moments.length] as Moment;
        isDone = await died(place, work, 1 + Math.floor(kills / moments.length), moment, kills);
        if (!isDone) kills += 1;
        await using(place, lookingOptions(work), async (store) => {
          expect(await faultsOf(store)).toEqual([]);
          expectWhole(await contentsOf(store), before, after);
        });
      }
      expect(kills).toBeGreaterThan(1);
      expect(await died(place, work, 0, "before", kills)).toBe(true);
      await using(place, options.after, async (store) => {
        expect(await contentsOf(store)).toEqual(after);
        expect(await faultsOf(store)).toEqual([]);
      });
      await place.cleanup();
      await other.cleanup();
    },
  );
}

/** Returns the options of a store that looks at what a killed process left. */
function lookingOptions(work: Work): StoreOptions {
  return work === "sweeping" ? {} : storeOptions(work, 0);
}
