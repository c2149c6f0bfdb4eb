import { describe, test } from "vitest";
import { countChanges, randomStops, run } from "./file/crashes.ts";
import { seeded } from "./file/random.ts";
import { SimulatedDisk } from "./file/simulated-disk.ts";

describe("a crash of the file backend on a simulated disk", () => {
  for (const crash of ["kill", "power"] as const) {
    test(`${crash}: at every single change of a workload, each commit is whole or absent`, async () => {
      const seed = 7;
      const steps = 25;
      const changes = await countChanges(seed, steps);
      for (let before = 1; before <= changes; before++) {
        const once = (round: number): { before: number; crash: typeof crash } | undefined =>
          round === 0 ? { before, crash } : undefined;
        const disk = new SimulatedDisk(seeded(before));
        try {
          await run({ seed, steps, stops: once }, disk);
        } catch (error) {
          throw new Error(`stopped before change ${before}: ${(error as Error).message}`, { cause: error });
        }
      }
    });
  }

  test("again and again, while recovering from the one before", async () => {
    for (let seed = 1; seed <= 60; seed++) {
      try {
        await run({ seed, steps: 30, stops: randomStops(seed, 1, 25) });
      } catch (error) {
        throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error });
      }
    }
  });
});
