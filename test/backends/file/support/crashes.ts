import assert from "node:assert/strict";
import type { Backend } from "../../../../src/backend.ts";
import { file } from "../../../../src/backends/file/index.ts";
import { type Crash, Expected, ExpectedPrefix } from "./expected.ts";
import { below, seeded } from "./random.ts";
import { SimulatedDisk } from "./simulated-disk.ts";
import { contentsOf, show, Workload, withoutVain } from "./workload.ts";

export interface Campaign {
  readonly seed: number;
  readonly steps: number;
  /** Default: full. */
  readonly fsync?: "full" | "normal";
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
export async function run(
  { seed, steps, stops, fsync = "full" }: Campaign,
  disk: SimulatedDisk = new SimulatedDisk(seeded(seed)),
): Promise<void> {
  const workload = new Workload(seeded(seed + 1));
  const expected = fsync === "full" ? new Expected() : new ExpectedPrefix();
  let backend = await reopen(disk, fsync);
  let round = 0;
  let stop = stops(round++);
  if (stop !== undefined) disk.stopBefore = disk.changes + stop.before;
  for (let step = 0; step < steps; step++) {
    const next = workload.next();
    const asked = "compact" in next ? [] : next.batches;
    const batches = asked.map((batch) => withoutVain(expected.contents, batch));
    try {
      if ("compact" in next) await backend.compact();
      else assert.ok((await backend.commit(asked)).every(Boolean), "a batch without checks was refused");
      expected.acknowledge(batches);
      assert.equal(show(await contentsOf(backend)), show(expected.contents), `step ${step}`);
    } catch (error) {
      if (!disk.isStopped || stop === undefined) throw error;
      if (stop.crash === "kill") disk.endProcess();
      else disk.cutPower();
      backend = await reopen(disk, fsync);
      expected.find(await contentsOf(backend), batches, stop.crash, `step ${step}`);
      stop = stops(round++);
      if (stop !== undefined) disk.stopBefore = disk.changes + stop.before;
    }
  }
  disk.stopBefore = Number.POSITIVE_INFINITY;
  await backend.close();
  const again = await reopen(disk, fsync);
  assert.equal(show(await contentsOf(again)), show(expected.contents), "after closing");
  await again.compact();
  assert.equal(show(await contentsOf(again)), show(expected.contents), "after compacting");
  assert.deepEqual(await again.verify(), []);
  await again.close();
}

function reopen(disk: SimulatedDisk, fsync: "full" | "normal" = "full"): Promise<Backend> {
  return file("/data/store", { fileSystem: disk.process(), fsync });
}

/** Stops that come at random, one after the other. */
export function randomStops(seed: number, least: number, spread: number): Campaign["stops"] {
  const random = seeded(seed ^ 0x5eed);
  return () => ({ before: least + below(random, spread), crash: random() < 0.5 ? "kill" : "power" });
}
