import assert from "node:assert/strict";
import type { Backend, Batch } from "../../../src/backend.ts";
import { file } from "../../../src/backends/file/index.ts";
import { below, seeded } from "./random.ts";
import { SimulatedDisk } from "./simulated-disk.ts";
import { type Contents, contentsOf, show, Workload, withBatch } from "./workload.ts";

export type Crash = "kill" | "power";

export interface Campaign {
  readonly seed: number;
  readonly steps: number;
  /** Gives the change before which the process is stopped, and how; undefined: never again. */
  readonly stops: (round: number) => { readonly before: number; readonly crash: Crash } | undefined;
}

/** How many changes a workload makes when nothing goes wrong. */
export async function countChanges(seed: number, steps: number): Promise<number> {
  const disk = new SimulatedDisk(seeded(seed));
  await run({ seed, steps, stops: () => undefined }, disk);
  return disk.changes;
}

/**
 * Runs a workload, stops it where it should be stopped, opens the store again, and checks what a commit promises: every
 * one that was acknowledged is there, and every batch of the one under way is there as a whole or not at all.
 */
export async function run({ seed, steps, stops }: Campaign, disk = new SimulatedDisk(seeded(seed))): Promise<void> {
  const workload = new Workload(seeded(seed + 1));
  const expected = new Expected();
  let backend = await reopen(disk);
  let round = 0;
  let stop = stops(round++);
  if (stop !== undefined) disk.stopBefore = disk.changes + stop.before;
  for (let step = 0; step < steps; step++) {
    const next = workload.next();
    const batches = "compact" in next ? [] : next.batches;
    try {
      if ("compact" in next) await backend.compact();
      else assert.ok((await backend.commit(batches)).every(Boolean), "a batch without checks was refused");
      expected.acknowledge(batches);
      assert.equal(show(await contentsOf(backend)), show(expected.contents), `step ${step}`);
    } catch (error) {
      if (!disk.isStopped || stop === undefined) throw error;
      if (stop.crash === "kill") disk.endProcess();
      else disk.cutPower();
      backend = await reopen(disk);
      expected.find(await contentsOf(backend), batches, stop.crash, `step ${step}`);
      stop = stops(round++);
      if (stop !== undefined) disk.stopBefore = disk.changes + stop.before;
    }
  }
  disk.stopBefore = Number.POSITIVE_INFINITY;
  await backend.close();
  const again = await reopen(disk);
  assert.equal(show(await contentsOf(again)), show(expected.contents), "after closing");
  await again.compact();
  assert.equal(show(await contentsOf(again)), show(expected.contents), "after compacting");
  assert.deepEqual(await again.verify(), []);
  await again.close();
}

export function reopen(disk: SimulatedDisk): Promise<Backend> {
  return file("/data/store", { fileSystem: disk.process() });
}

/** What must be there, and what may be. */
class Expected {
  #certain: Contents = new Map();
  /** Batches that were under way when a process was killed, and were found: nobody was told, so power may still take them. */
  #doubtful: Batch[] = [];

  get contents(): Contents {
    return this.#doubtful.reduce(withBatch, this.#certain);
  }

  /** Batches are there for good, and with them all that was found in the same journals. */
  acknowledge(batches: readonly Batch[]): void {
    const places = new Set(batches.flatMap(placesOf));
    const settled = this.#doubtful.filter((batch) => placesOf(batch).some((place) => places.has(place)));
    this.#doubtful = this.#doubtful.filter((batch) => !settled.includes(batch));
    this.#certain = [...settled, ...batches].reduce(withBatch, this.#certain);
  }

  /** After a crash: each batch that was under way is there, or not. */
  find(contents: Contents, batches: readonly Batch[], crash: Crash, when: string): void {
    const found = show(contents);
    const doubtful = crash === "kill" ? [this.#doubtful] : subsets(this.#doubtful);
    for (const before of doubtful) {
      for (const after of subsets(batches)) {
        const all = [...before, ...after];
        if (show(all.reduce(withBatch, this.#certain)) !== found) continue;
        if (crash === "kill") this.#doubtful = all;
        else {
          this.#certain = contents;
          this.#doubtful = [];
        }
        return;
      }
    }
    assert.fail(`${when}: neither before nor after.\nfound:\n${found}\n\nbefore:\n${show(this.contents)}`);
  }
}

function subsets<Item>(items: readonly Item[]): Item[][] {
  return items.reduce<Item[][]>((all, item) => all.flatMap((one) => [one, [...one, item]]), [[]]);
}

function placesOf({ deletes = [], inserts = [], puts = [] }: Batch): (number | string)[] {
  const keys = [...deletes, ...inserts.map(({ key }) => key), ...puts.map(({ key }) => key)];
  return keys.map((key) => (key.table === "directory" ? "directory" : key.lineage));
}

/** Stops that come at random, one after the other. */
export function randomStops(seed: number, least: number, spread: number): Campaign["stops"] {
  const random = seeded(seed ^ 0x5eed);
  return () => ({ before: least + below(random, spread), crash: random() < 0.5 ? "kill" : "power" });
}
