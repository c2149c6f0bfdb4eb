import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { setTimeout as wait } from "node:timers/promises";
import { open } from "../../../src/api/open.ts";
import type { Store } from "../../../src/api/store.ts";
import { exact } from "../../../src/testing/index.ts";
import { wholeHistory } from "../../../src/testing/support/snapshot.ts";
import type { BackendUnderTest, Place } from "../../support/places.ts";
import { stateAt, type Told } from "./history.ts";

/** Rounds at one place before the next: verifying all of it after every kill would grow without bound. */
const roundsPerPlace = 15;
const script = new URL("./writer.ts", import.meta.url).pathname;

/** The operations on one thread that killed writers had acknowledged. */
interface Acknowledged {
  last: number;
  /** All up to this one may be gone. */
  pruned: number;
  readonly writes: Map<number, number>;
}

/** The fork of each thread that was acknowledged last. */
type Forks = Map<string, { readonly id: string; readonly n: number }>;

export interface Toll {
  readonly kills: number;
  readonly acknowledged: number;
}

/** Kills writers at random moments, and checks after each that all they had been promised is there, and whole. */
export async function survivesKills(backend: BackendUnderTest, kills: number, random = Math.random): Promise<Toll> {
  let done = 0;
  let acknowledged = 0;
  while (done < kills) {
    const place = await backend.make();
    const threads = new Map<string, Acknowledged>();
    const forks: Forks = new Map();
    for (let round = 0; round < roundsPerPlace && done < kills; round++, done++) {
      // A process has two threads to itself; in every third round a second process writes next to it.
      const writers = [["a", "b"], ...(round % 3 === 2 && backend.capabilities.processes ? [["c"]] : [])];
      const told = await Promise.all(writers.map((names) => killedWriter(place, names, random)));
      for (const line of told.flat()) acknowledged += note(line.split(" "), threads, forks);
      await check(place, threads, forks);
    }
    await place.cleanup();
  }
  return { kills: done, acknowledged };
}

/** Starts a writer, kills it after some of its acknowledgements, and gives all of them. */
async function killedWriter(place: Place, threads: readonly string[], random: () => number): Promise<string[]> {
  assert.equal(typeof place.url, "string", "a process of its own needs a url");
  const options = JSON.stringify(place.options ?? {});
  const child = spawn(process.execPath, [script, place.url as string, options, ...threads]);
  const fatal = Math.floor(random() ** 2 * 600);
  let output = "";
  let errors = "";
  let killed = false;
  child.stderr.on("data", (data: Buffer) => {
    errors += data.toString();
  });
  const kill = async (): Promise<void> => {
    await wait(random() * 4);
    child.kill("SIGKILL");
  };
  child.stdout.on("data", (data: Buffer) => {
    output += data.toString();
    if (!killed && output.split("\n").length > fatal) {
      killed = true;
      void kill();
    }
  });
  const signal = await new Promise<string | null>((resolve) => child.on("close", (_, by) => resolve(by)));
  assert.equal(signal, "SIGKILL", `the writer ended by itself: ${errors}`);
  // A last line without its end was never finished telling.
  return output.split("\n").slice(0, -1);
}

function note(
  [what = "", id = "", first = "", second = ""]: string[],
  threads: Map<string, Acknowledged>,
  forks: Forks,
): number {
  const forkedFrom = id.slice(0, 1);
  const thread = threads.get(id) ?? { last: -1, pruned: -1, writes: new Map() };
  if (what === "put") thread.last = Number(first);
  else if (what === "write") thread.writes.set(Number(first), Number(second));
  else if (what === "prune") thread.pruned = Number(first);
  else if (what === "fork") forks.set(forkedFrom, { id, n: Number(first) });
  // Where kills kept the others from being made, it is the last one's turn again: it may be gone, or made anew.
  else if (what === "forking" && forks.get(forkedFrom)?.id === id) forks.delete(forkedFrom);
  const own = what === "put" || what === "write" || what === "prune";
  if (own) threads.set(id, thread);
  return own || what === "fork" ? 1 : 0;
}

async function check(place: Place, threads: Map<string, Acknowledged>, forks: Forks): Promise<void> {
  const store = await open<Told>(place.url, place.options);
  try {
    // A file may end in the middle of a batch that was never acknowledged: it is not read, and the next write removes it.
    const { faults } = await store.verify();
    const real = faults.filter(
      ({ checkpoint, message }) => checkpoint !== null || !/cut short by a crash/.test(message),
    );
    exact(real, [], "what verify finds after a kill");
    for (const [id, promised] of threads) await checkThread(store, id, promised);
    for (const [thread, { id, n }] of forks) {
      exact((await store.thread(id).latest())?.state, stateAt(thread, n), `the fork ${id}`);
    }
  } finally {
    await store.close();
  }
}

async function checkThread(store: Store<Told>, id: string, promised: Acknowledged): Promise<void> {
  const thread = store.thread(id);
  const listed = await wholeHistory(thread);
  const writes = await thread.writesOf(listed);
  const numbers = listed.map(({ step }) => step);
  const last = numbers[0] ?? -1;
  const first = numbers.at(-1) ?? 0;
  assert.ok(last >= promised.last, `${id} ends at ${last}, though ${promised.last} was acknowledged`);
  // A prune may have happened without having been acknowledged: it leaves 70 and goes at most to the next of its kind.
  assert.ok(first <= promised.pruned + 1 || last - first >= 69, `${id} starts at ${first} and ends at ${last}`);
  exact(
    numbers,
    Array.from({ length: last - first + 1 }, (_, index) => last - index),
    `the steps of ${id}`,
  );
  for (const [index, one] of listed.entries()) {
    assert.equal(one.parent, listed[index + 1]?.id ?? null);
    exact(one.state, stateAt(id, one.step), `${id} ${one.step}`);
    const value = promised.writes.get(one.step);
    if (value !== undefined) exact(writes.get(one.id)?.[0]?.value, value, `the write of ${id} ${one.step}`);
    // Alone it is found by another way than as part of a page.
    if (index % 16 === 0) exact((await thread.get(one.id))?.state, one.state, `${id} ${one.step}, by its id`);
  }
}
