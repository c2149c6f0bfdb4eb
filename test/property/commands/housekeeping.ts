import assert from "node:assert/strict";
import fc from "fast-check";
import { open } from "../../../src/api/open.ts";
import { exact } from "../../../src/testing/index.ts";
import { collect } from "../../support/collect.ts";
import { compareAll } from "../compare.ts";
import { dropOrphans } from "../naive/writes.ts";
import { SCALE } from "../scale.ts";
import type { Free } from "../states.ts";
import type { Model, System } from "../system.ts";
import { type Commands, command, commands } from "./command.ts";

export const comparing: Commands = command("compare", (model, real) => compareAll(model, real.store));

export const reopening: Commands = command("reopen", async (model, real) => {
  await real.reopen();
  await compareAll(model, real.store);
});

export const swapping: Commands = command("swap", async (_, real) => real.swap());

export async function compactBoth(model: Model, real: System): Promise<void> {
  await real.store.compact();
  for (const thread of [...model.threads.values(), ...model.empty.values()]) {
    for (const line of thread.lines.values()) dropOrphans(line, model.now);
  }
}

export const compacting: Commands = command("compact", compactBoth);

/** Moves the clock past the time that writes without a checkpoint are kept. */
export const sleeping: Commands = command("sleep", async (model) => {
  model.now += 25 * 3_600_000;
});

/** Exports the whole store into another as a bundle, and imports it back, where all of it is known. */
export const bundling: Commands = command("bundle", async (model, real) => {
  const lines = await collect(real.store.export({}));
  const other = await open<Free>("memory:", { clock: () => model.now, packRows: 4 });
  const { imported } = await other.import(lines);
  assert.equal(imported, model.threads.size);
  await compareAll(model, other, { bundled: true });
  exact(await other.verify(), { ok: true, faults: [] }, "verify of what was imported");
  const again = await real.store.import(lines);
  exact([again.imported, again.unchanged], [0, imported], "what is imported where it came from");
  await other.close();
});

const milliseconds = fc.nat({ max: 10 }).map((tens) => (tens * 10 + 10) * SCALE);

export const waiting: Commands = commands("wait", milliseconds, async (time, model) => {
  model.now += time;
});
