import fc from "fast-check";
import { compareAll } from "../compare.ts";
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

export const compacting: fc.Arbitrary<fc.AsyncCommand<Model, System>> = fc.constant(
  new Plain("compact", (_, real) => real.store.compact()),
);

export const waiting: fc.Arbitrary<fc.AsyncCommand<Model, System>> = fc.nat({ max: 10 }).map((tens) => {
  const milliseconds = tens * 10 + 10;
  return new Plain(`wait(${milliseconds})`, async (model) => {
    model.now += milliseconds;
  });
});
