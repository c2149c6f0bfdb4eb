import assert from "node:assert/strict";
import type { Backend, Value } from "../../backend.ts";
import type { BackendCase } from "./case.ts";
import { at, backendCase, text, using, values } from "./case.ts";

const counter = at("meta", 1, 1);

function number(value: Value | undefined): number {
  return value === undefined ? 0 : (JSON.parse((value as string).slice(10)) as number);
}

/** Adds one by compare-and-set, and repeats until it succeeds. */
async function increment(backend: Backend): Promise<void> {
  for (;;) {
    const [seen] = await values(backend, counter);
    const next = { key: counter, value: text(number(seen) + 1) };
    const [applied] = await backend.commit([{ checks: [{ key: counter, value: seen }], puts: [next] }]);
    if (applied) return;
  }
}

async function repeatedly(times: number, action: () => Promise<void>): Promise<void> {
  for (let time = 0; time < times; time++) await action();
}

function turnOfTheLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Calls that overlap, through a single handle and through two. */
export const concurrencyCases: readonly BackendCase[] = [
  backendCase("of commits at once that insert one key, exactly one is applied", async (backend) => {
    for (let item = 0; item < 10; item++) {
      const commits = Array.from({ length: 8 }, (_, writer) =>
        backend.commit([{ inserts: [{ key: at("tail", 1, item), value: text(writer) }] }]),
      );
      const winners = (await Promise.all(commits)).flatMap(([applied], writer) => (applied ? [writer] : []));
      assert.equal(winners.length, 1);
      assert.deepEqual(await values(backend, at("tail", 1, item)), [text(winners[0])]);
    }
  }),

  backendCase("no compare-and-set among overlapping commits is lost", async (backend) => {
    await Promise.all(Array.from({ length: 8 }, () => repeatedly(10, () => increment(backend))));
    assert.deepEqual(await values(backend, counter), [text(80)]);
  }),

  backendCase("a read sees a batch whole or not at all", async (backend) => {
    const pair = [at("meta", 1, 1), at("tail", 1, 1)] as const;
    let done = false;
    const write = async (): Promise<void> => {
      for (let round = 1; round <= 50; round++) {
        await backend.commit([{ puts: pair.map((key) => ({ key, value: text(round) })) }]);
        if (round % 3 === 0) await turnOfTheLoop();
      }
      done = true;
    };
    const watch = async (): Promise<void> => {
      while (!done) {
        const [left, right] = await values(backend, ...pair);
        assert.equal(left, right);
        await turnOfTheLoop();
      }
    };
    await Promise.all([write(), watch()]);
    assert.deepEqual(await values(backend, ...pair), [text(50), text(50)]);
  }),

  {
    name: "two open handles see each other's commits",
    requires: "processes",
    run: (open) =>
      using(open, (one) =>
        using(open, async (two) => {
          assert.deepEqual(await values(two, counter), [undefined]);
          for (let round = 0; round < 5; round++) {
            const [writer, reader] = round % 2 === 0 ? [one, two] : [two, one];
            assert.deepEqual(await writer.commit([{ puts: [{ key: counter, value: text(round) }] }]), [true]);
            assert.deepEqual(await values(reader, counter), [text(round)]);
          }
        }),
      ),
  },

  {
    name: "no compare-and-set of two open handles is lost",
    requires: "processes",
    run: (open) =>
      using(open, (one) =>
        using(open, async (two) => {
          await Promise.all([one, two].map((backend) => repeatedly(50, () => increment(backend))));
          assert.deepEqual(await values(one, counter), [text(100)]);
        }),
      ),
  },
];
