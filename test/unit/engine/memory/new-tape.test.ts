import crypto from "node:crypto";
import { afterEach, expect, it, vi } from "vitest";
import type { Backend } from "../../../../src/backend.ts";
import { memory } from "../../../../src/backends/memory/index.ts";
import { forwarding } from "../../../../src/testing/index.ts";

afterEach(() => void vi.restoreAllMocks());

/** Returns `newTape` of a process that draws these numbers, and the bounds that they were drawn below. */
async function processThatDraws(...numbers: number[]): Promise<{
  readonly newTape: typeof import("../../../../src/engine/memory/new-tape.ts").newTape;
  readonly bounds: readonly number[];
}> {
  const bounds: number[] = [];
  vi.spyOn(crypto, "randomInt").mockImplementation(((_least: number, beyond: number) => {
    bounds.push(beyond);
    return numbers.shift() ?? 1;
  }) as typeof crypto.randomInt);
  vi.resetModules();
  return { newTape: (await import("../../../../src/engine/memory/new-tape.ts")).newTape, bounds };
}

function declaring(tapes?: number, numberFor?: Backend["numberFor"]): Backend {
  return forwarding(memory(), {
    capabilities: { durable: false, processes: false, ...(tapes && { tapes }) },
    ...(numberFor && { numberFor }),
  });
}

it("numbers are drawn below the bound that a backend declares, 2^31 if it declares none, and 2^40 at most", async () => {
  const { newTape, bounds } = await processThatDraws(2 ** 31 - 2, 2 ** 40 - 1, 7);
  expect([newTape(declaring(), false), newTape(declaring(), false)]).toEqual([2 ** 31 - 2, 1]);
  expect([newTape(declaring(2 ** 40), false), newTape(declaring(2 ** 50), false)]).toEqual([2 ** 40 - 1, 1]);
  expect(newTape(declaring(2 ** 40), true)).toBe(7);
  expect(bounds).toEqual([2 ** 31, 2 ** 40, 2 ** 40]);
});

it("no tape has the number of the store's own lineage", async () => {
  const { newTape } = await processThatDraws(2 ** 31 - 2, 1);
  const backend = declaring(2 ** 40);
  expect([newTape(backend, false), newTape(backend, false)]).toEqual([2 ** 31 - 2, 2 ** 31]);
  const placed = declaring(2 ** 40, (_id, number) => (number === 1 ? 2 ** 31 - 1 : number));
  expect(newTape(placed, true, "t")).toBe(2);
});
