import { expect, it } from "vitest";
import { type Costs, type Deployment, Remembered, shardOf, simulate } from "../../../bench/scale/model.ts";

const costs: Costs = {
  call: 100,
  create: 50,
  step: 30,
  cold: 20,
  bytesOfThread: 1_000,
  bytesOfStep: 500,
  remembered: 1_000,
};
const one: Deployment = { processes: 1, callers: 1, commitsAtOnce: 1, remembered: 10, servers: 1, shards: 1 };
const inOrder = (n: number): number => n;

it("a single caller pays for a whole call each time", () => {
  const outcome = simulate(one, { operations: 1_000, kind: "create", pick: inOrder }, costs);
  expect(outcome.seconds).toBeCloseTo(0.15, 6);
  expect(outcome.together).toBe(1);
  expect([outcome.median, outcome.slowest1Percent]).toEqual([0.15, 0.15]);
});

it("callers that wait share the next call", () => {
  const outcome = simulate({ ...one, callers: 10 }, { operations: 1_000, kind: "create", pick: inOrder }, costs);
  expect(outcome.together).toBe(10);
  expect(outcome.seconds).toBeCloseTo(100 * (100 + 10 * 50) * 1e-6, 6);
});

it("a step of a thread that is not remembered is read first", () => {
  const steps = { operations: 1_000, kind: "step" } as const;
  const hot = simulate(one, { ...steps, pick: (n) => n % 10 }, costs);
  expect(hot.hits).toBe(0.99);
  expect(hot.seconds).toBeCloseTo((1_000 * 130 + 10 * 20) * 1e-6, 6);
  // Eleven threads in turn, of which ten are remembered: each is forgotten just before it comes again.
  const cold = simulate(one, { ...steps, pick: (n) => n % 11 }, costs);
  expect(cold.hits).toBe(0);
  expect(cold.seconds).toBeCloseTo(1_000 * 150 * 1e-6, 6);
});

it("servers work at the same time, and a call over several ends with the last of them", () => {
  const many: Deployment = { ...one, processes: 8, callers: 32, commitsAtOnce: 4 };
  const work = { operations: 40_000, kind: "create", pick: inOrder } as const;
  const single = simulate(many, work, costs);
  const spread = simulate({ ...many, servers: 8, shards: 64 }, work, costs);
  expect(single.perSecond).toBeLessThan(1e6 / costs.create);
  expect(spread.perSecond / single.perSecond).toBeGreaterThan(3);
  expect(spread.perSecond / single.perSecond).toBeLessThanOrEqual(8);
  expect(spread.skew).toBeLessThan(1.3);
  expect(single.skew).toBe(1);
});

it("no operation is lost, whatever the numbers of callers and operations", () => {
  for (const operations of [1, 7, 100]) {
    for (const callers of [1, 3, 200]) {
      const { seconds, perSecond } = simulate({ ...one, callers }, { operations, kind: "step", pick: inOrder }, costs);
      expect(Math.round(seconds * perSecond)).toBe(operations);
    }
  }
});

it("a process remembers the threads that it used last", () => {
  const remembered = new Remembered(2);
  expect([1, 2, 1, 3, 1, 2].map((thread) => remembered.use(thread))).toEqual([false, false, true, false, true, false]);
});

it("threads are spread evenly over the shards", () => {
  const counts = new Array<number>(64).fill(0);
  for (let thread = 0; thread < 64_000; thread += 1) {
    const shard = shardOf(thread, 64);
    counts[shard] = (counts[shard] as number) + 1;
  }
  expect(Math.min(...counts)).toBeGreaterThan(800);
  expect(Math.max(...counts)).toBeLessThan(1_200);
});
