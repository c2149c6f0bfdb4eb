import { describe, test } from "vitest";
import { countOperations, runWithFault, runWithFaults } from "./support/disk-faults.ts";

async function naming(what: string, action: () => Promise<void>): Promise<void> {
  try {
    await action();
  } catch (error) {
    throw new Error(`${what}: ${(error as Error).message}`, { cause: error });
  }
}

describe("a failing operation of the file backend's disk", () => {
  for (const code of ["EIO", "ENOSPC"]) {
    test(`${code} at every single operation of a workload: BACKEND with its cause, and the next call works`, async () => {
      const operations = await countOperations(5, 15);
      for (let number = 1; number <= operations; number++) {
        await naming(`operation ${number}`, () => runWithFault(5, 15, number, code));
      }
    });
  }

  test("after several faults at random, and while a disk is full, every commit is whole or absent", async () => {
    for (let seed = 1; seed <= 50; seed++) {
      await naming(`seed ${seed}`, () => runWithFaults(seed, 25, 0.02 + (seed % 10) / 50));
    }
  });
});
