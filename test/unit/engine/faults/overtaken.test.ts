import { afterEach, describe, expect, it, vi } from "vitest";
import { untilUndisturbed } from "../../../../src/engine/faults/attempts.ts";
import { missingFrame } from "../../../../src/engine/faults/missing.ts";
import { busyIfOvertaken, Overtaken, wasOvertaken } from "../../../../src/engine/faults/overtaken.ts";
import { PATIENCE } from "../../../../src/platform/attempts.ts";

const tape = { number: 7, meta: { thread: "t" } };
const overtaken = new Overtaken(tape);
const corrupt = missingFrame(tape, 3);

afterEach(() => void vi.restoreAllMocks());

/** Fails with each of the errors, one an attempt, then returns how many attempts there were. */
function failing(...errors: readonly unknown[]): () => Promise<number> {
  let attempts = 0;
  return async () => {
    const error = errors[attempts];
    attempts += 1;
    if (error !== undefined) throw error;
    return attempts;
  };
}

async function never(): Promise<boolean> {
  throw new Error("must not be asked");
}

describe("an attempt that others overtake", () => {
  it("an attempt that others overtake runs again after each signal, whether or not anything is found to be stale", async () => {
    expect(await untilUndisturbed("t", failing(overtaken, overtaken), async () => false)).toBe(3);
  });

  it("an attempt that others overtake runs again after CORRUPT if what it read is stale", async () => {
    expect(await untilUndisturbed("t", failing(corrupt), async () => true)).toBe(2);
  });

  it("an attempt that others overtake reports CORRUPT as damage if nothing was changed", async () => {
    await expect(untilUndisturbed("t", failing(corrupt), async () => false)).rejects.toBe(corrupt);
  });

  it("an attempt that others overtake is told whether it runs again", async () => {
    const told: boolean[] = [];
    const attempt = failing(overtaken);
    const run = (again: boolean): Promise<number> => {
      told.push(again);
      return attempt();
    };
    await untilUndisturbed("t", run, async () => true);
    expect(told).toEqual([false, true]);
  });

  it("an attempt that others overtake passes every other error on without asking whether anything is stale", async () => {
    const error = new TypeError("misuse");
    await expect(untilUndisturbed("t", failing(error), never)).rejects.toBe(error);
    expect(await wasOvertaken(error, never)).toBe(false);
  });

  it("an attempt that others overtake ends in BUSY when the time is up", async () => {
    let now = 0;
    vi.spyOn(performance, "now").mockImplementation(() => (now += PATIENCE / 4));
    const attempt = vi.fn(async () => Promise.reject(overtaken));
    await expect(untilUndisturbed("t", attempt, async () => true)).rejects.toMatchObject({ code: "BUSY", thread: "t" });
    expect(attempt.mock.calls.length).toBeGreaterThan(1);
  });
});

describe("the signal that an attempt was overtaken", () => {
  it("the signal that an attempt was overtaken becomes BUSY where a call has no loop of its own", () => {
    expect(busyIfOvertaken(overtaken)).toMatchObject({ code: "BUSY", thread: "t", cause: overtaken });
    expect(busyIfOvertaken(corrupt)).toBe(corrupt);
  });
});
