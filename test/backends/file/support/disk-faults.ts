import assert from "node:assert/strict";
import type { Backend } from "../../../../src/backend.ts";
import { file } from "../../../../src/backends/file/index.ts";
import { Expected } from "./expected.ts";
import { below, seeded } from "./random.ts";
import { type Operation, SimulatedDisk } from "./simulated-disk.ts";
import { contentsOf, show, Workload, withoutVain } from "./workload.ts";

type Failing = SimulatedDisk["failing"];

/** How many operations a workload takes when none fails. */
export async function countOperations(seed: number, steps: number): Promise<number> {
  const disk = new SimulatedDisk(seeded(seed));
  await exercise(disk, seed, steps, () => () => undefined);
  return disk.operations;
}

/** Lets exactly one operation of a workload fail. */
export async function runWithFault(seed: number, steps: number, number: number, code: string): Promise<void> {
  await exercise(
    new SimulatedDisk(seeded(seed)),
    seed,
    steps,
    () => (_, __, now) => (now === number ? code : undefined),
  );
}

/** Lets operations fail at random, alone or in rows; a full disk only lets those fail that need room. */
export async function runWithFaults(seed: number, steps: number, chance: number): Promise<void> {
  const random = seeded(seed ^ 0xfa17);
  await exercise(new SimulatedDisk(seeded(seed)), seed, steps, () => {
    const kind = random();
    if (kind < 0.5) return () => undefined;
    const needsRoom: readonly Operation[] = ["create", "write", "makeDirectory", "rename"];
    if (kind < 0.7) return (operation) => (needsRoom.includes(operation) ? "ENOSPC" : undefined);
    const code = ["EIO", "ENOSPC", "EDQUOT"][below(random, 3)] as string;
    return () => (random() < chance ? code : undefined);
  });
}

/**
 * Runs a workload while operations fail: a call either succeeds or says that it did not, what was there still reads once
 * the disk works again, and so does the next call.
 */
async function exercise(disk: SimulatedDisk, seed: number, steps: number, faults: () => Failing): Promise<void> {
  const workload = new Workload(seeded(seed + 1));
  const expected = new Expected();
  const open = (): Promise<Backend> => file("/data/store", { fileSystem: disk.process() });
  const backend = await open();
  for (let step = 0; step < steps; step++) {
    const next = workload.next();
    const asked = "compact" in next ? [] : next.batches;
    const batches = asked.map((batch) => withoutVain(expected.contents, batch));
    disk.failing = faults();
    try {
      if ("compact" in next) await backend.compact();
      else await backend.commit(asked);
      expected.acknowledge(batches);
    } catch (error) {
      const { code, committed } = error as { readonly code?: unknown; readonly committed?: unknown };
      assert.ok(code === "BACKEND" && (error as Error).cause !== undefined, `step ${step}: ${(error as Error).stack}`);
      disk.failing = () => undefined;
      const contents = await contentsOf(backend);
      if (committed === false) assert.equal(show(contents), show(expected.contents), `step ${step}: not committed`);
      else expected.find(contents, batches, "kill", `step ${step}`);
    }
    disk.failing = () => undefined;
    assert.equal(show(await contentsOf(backend)), show(expected.contents), `step ${step}`);
  }
  await backend.close();
  disk.cutPower();
  const again = await open();
  assert.equal(show(await contentsOf(again)), show(expected.contents), "after a power cut");
  await again.compact();
  assert.equal(show(await contentsOf(again)), show(expected.contents), "after compacting");
  assert.deepEqual(await again.verify(), []);
  await again.close();
}
