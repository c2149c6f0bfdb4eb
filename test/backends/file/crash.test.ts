import { describe, test } from "vitest";
import { countChanges, randomStops, run } from "./support/crashes.ts";
import { seeded } from "./support/random.ts";
import { SimulatedDisk } from "./support/simulated-disk.ts";

async function naming(what: string, action: () => Promise<void>): Promise<void> {
  try {
    await action();
  } catch (error) {
    throw new Error(`${what}: ${(error as Error).message}`, { cause: error });
  }
}

describe("a crash of the file backend on a simulated disk", () => {
  for (const crash of ["kill", "power"] as const) {
    for (const fsync of ["full", "normal"] as const) {
      test(`${crash} at every single change of a workload, fsync ${fsync}: each commit is whole or absent`, async () => {
        const seed = 7;
        const steps = 20;
        const changes = await countChanges(seed, steps);
        for (let before = 1; before <= changes; before++) {
          const stops = (round: number): { before: number; crash: typeof crash } | undefined =>
            round === 0 ? { before, crash } : undefined;
          const disk = new SimulatedDisk(seeded(before));
          await naming(`stopped before change ${before}`, () => run({ seed, steps, stops, fsync }, disk));
        }
      });
    }
  }

  test("every commit is whole or absent after kills and power cuts, each while recovering from the one before", async () => {
    for (let seed = 1; seed <= 40; seed++) {
      const fsync = seed % 3 === 0 ? "normal" : "full";
      await naming(`seed ${seed}`, () => run({ seed, steps: 30, fsync, stops: randomStops(seed, 1, 25) }));
    }
  });
});
