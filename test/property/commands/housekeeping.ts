import assert from "node:assert/strict";
import fc from "fast-check";
import { open } from "../../../src/api/open.ts";
import { exact } from "../../../src/testing/index.ts";
import { collect } from "../../../src/testing/support/snapshot.ts";
import { compareAll } from "../compare.ts";
import { dropOrphans } from "../naive/writes.ts";
import type { Free } from "../states.ts";
import type { Model, System } from "../system.ts";

/** A command without choices. */
class Plain implements fc.AsyncCommand<Model, System> {
  readonly #name: string;
  readonly #run: (model: Model, real: System) => Promise<void>;

  constructor(name: string, run: (model: Model, real: System) => Promise<void>) {
    this.#name = name;
    this.#run = run;
  }

  check(): boolean {
    return true;
  }

  async run(model: Model, real: System): Promise<void> {
    await this.#run(model, real);
  }

  toString(): string {
    return this.#name;
  }
}

export const comparing: fc.Arbitrary<fc.AsyncCommand<Model, System>> = fc.constant(
  new Plain("compare", (model, real) => compareAll(model, real.store)),
);

export const reopening: fc.Arbitrary<fc.AsyncCommand<Model, System>> = fc.constant(
  new Plain("reopen", async (model, real) => {
    await real.reopen();
    await compareAll(model, real.store);
  }),
);

export const swapping: fc.Arbitrary<fc.AsyncCommand<Model, System>> = fc.constant(
  new Plain("swap", async (_, real) => real.swap()),
);

export async function compactBoth(model: Model, real: System): Promise<void> {
  await real.store.compact();
  for (const thread of [...model.threads.values(), ...model.empty.values()]) {
    for (const line of thread.lines.values()) dropOrphans(line, model.now);
  }
}

export const compacting: fc.Arbitrary<fc.AsyncCommand<Model, System>> = fc.constant(new Plain("compact", compactBoth));

/** Past the time that writes without a checkpoint are kept. */
export const sleeping: fc.Arbitrary<fc.AsyncCommand<Model, System>> = fc.constant(
  new Plain("sleep", async (model) => {
    model.now += 25 * 3_600_000;
  }),
);

/** All that the store shows goes to another as a bundle, and back, where it is known. */
export const bundling: fc.Arbitrary<fc.AsyncCommand<Model, System>> = fc.constant(
  new Plain("bundle", async (model, real) => {
    const lines = await collect(real.store.export({}));
    const other = await open<Free>("memory:", { clock: () => model.now, packRows: 4 });
    const { imported } = await other.import(lines);
    assert.equal(imported, model.threads.size);
    await compareAll(model, other, { bundled: true });
    exact(await other.verify(), { ok: true, faults: [] }, "verify of what was imported");
    const again = await real.store.import(lines);
    exact([again.imported, again.unchanged], [0, imported], "what is imported where it came from");
    await other.close();
  }),
);

export const waiting: fc.Arbitrary<fc.AsyncCommand<Model, System>> = fc.nat({ max: 10 }).map((tens) => {
  const milliseconds = tens * 10 + 10;
  return new Plain(`wait(${milliseconds})`, async (model) => {
    model.now += milliseconds;
  });
});
