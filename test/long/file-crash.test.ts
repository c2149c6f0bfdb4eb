import { test } from "vitest";
import { randomStops, run } from "../backends/file/support/crashes.ts";
import { journals, makeSpecimen } from "../backends/file/support/damage.ts";
import { checkFlips, checkScars } from "../backends/file/support/damage-checks.ts";
import { runWithFaults } from "../backends/file/support/disk-faults.ts";
import { howMany, progressOf } from "./campaign.ts";

async function campaign(what: string, count: number, once: (seed: number) => Promise<void>): Promise<void> {
  const progress = progressOf(what, 1000);
  for (let seed = 1; seed <= count; seed++) {
    try {
      await once(seed);
    } catch (error) {
      throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error });
    }
    progress(seed);
  }
}

test("the file backend survives any row of kills and power cuts on a simulated disk", () =>
  campaign("crashes", howMany(3000), (seed) => {
    const fsync = seed % 3 === 0 ? "normal" : "full";
    return run({ seed, steps: 40, fsync, stops: randomStops(seed, 1, 5 + (seed % 60)) });
  }));

test("the file backend survives any row of failing operations on a simulated disk", () =>
  campaign("faults", howMany(3000), (seed) => runWithFaults(seed, 40, 0.02 + (seed % 10) / 50)));

test("a bit flipped anywhere in any journal is CORRUPT, or cut away with the last batch", async () => {
  for (const compacted of [false, true]) {
    for (const path of journals) await checkFlips(await makeSpecimen(compacted), path, 1);
  }
});

test("rubbish anywhere in a journal never gives a wrong value", () =>
  campaign("scars", howMany(30), async (seed) => checkScars(await makeSpecimen(seed % 2 === 0), 500, seed)));
