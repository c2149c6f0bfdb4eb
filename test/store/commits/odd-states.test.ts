import { expect, test } from "vitest";
import type { Batch } from "../../../src/backend.ts";
import { memory } from "../../../src/backends/memory/index.ts";
import { open } from "../../../src/index.ts";
import { forwarding } from "../../../src/testing/index.ts";

type State = Record<string, unknown>;

const words = "a line of some words that stays the same from step to step, number ";
const list = <T>(length: number, make: (index: number) => T): T[] => Array.from({ length }, (_, index) => make(index));
const wide = (length: number): State => Object.fromEntries(list(length, (index) => [`k${index}`, index]));

function nested(depth: number, siblings: number): State {
  return depth === 0 ? { value: 0 } : { in: nested(depth - 1, siblings), beside: list(siblings, (index) => index) };
}

interface OddState {
  readonly name: string;
  state(size: number): State;
  update(step: number, size: number): object;
}

/** States whose size is not in the change, each with a change of some ten to two hundred bytes. */
const oddStates: readonly OddState[] = [
  { name: "a wide object, one key set", state: wide, update: (step) => ({ set: { [`k${step}`]: step + 0.5 } }) },
  {
    name: "a wide object inside, one key patched",
    state: (size) => ({ map: wide(size) }),
    update: (step) => ({ patch: [[["map", `k${step}`], step + 0.5]] }),
  },
  {
    name: "a wide object that is set again with one key changed",
    state: (size) => ({ map: wide(size) }),
    update: (step, size) => ({ set: { map: { ...wide(size), k7: step + 0.5 } } }),
  },
  {
    name: "a wide object that is set again with a new key in front each time",
    state: (size) => ({ map: wide(size) }),
    update: (step, size) => {
      const added = list(step, (index) => [`new${step - index}`, index] as const);
      return { set: { map: { ...Object.fromEntries(added), ...wide(size) } } };
    },
  },
  {
    name: "a wide object whose last key comes to the middle",
    state: (size) => ({ map: wide(size) }),
    update: (step, size) => {
      const entries = Object.entries(wide(size));
      for (let moved = 1; moved <= step; moved += 1) entries.splice(size / 2, 0, entries.pop() as [string, unknown]);
      return { set: { map: Object.fromEntries(entries) } };
    },
  },
  {
    name: "deep nesting, patched at the bottom",
    state: (size) => ({ root: nested(60, size / 50) }),
    update: (step) => ({ patch: [[["root", ...list(60, () => "in"), "value"], step]] }),
  },
  {
    name: "many small objects, one patched",
    state: (size) => ({ maps: list(size, (a) => ({ a, b: `x${a}` })) }),
    update: (step) => ({ patch: [[["maps", step * 3, "a"], -step]] }),
  },
  {
    name: "sets and dates",
    state: (size) => ({ seen: new Set(list(size, String)), dates: list(size, (at) => new Date(at)), at: new Date(0) }),
    update: (step) => ({ set: { at: new Date(step * 1000) }, append: { dates: [new Date(step)] } }),
  },
  {
    name: "a list edited in the middle",
    state: (size) => ({ lines: list(size, (index) => words + index) }),
    update: (step, size) => ({ patch: [[["lines", size / 2], `another line ${step}`]] }),
  },
  {
    name: "a list that is set again, trimmed at the front and longer at the end",
    state: (size) => ({ lines: list(size, (index) => ({ index, words })) }),
    update: (step, size) => ({ set: { lines: list(size, (index) => ({ index: index + step, words })) } }),
  },
  {
    name: "a text that grows",
    state: (size) => ({ text: words.repeat(size / 10) }),
    update: (step) => ({ append: { text: ` and ${step}` } }),
  },
  {
    name: "a field that takes two shapes in turn",
    state: (size) => ({ log: list(size, (index) => ({ index, words })), now: {} }),
    update: (step) => ({
      set: { now: step % 2 === 0 ? { kind: "plan", steps: ["a", "b"] } : { tool: words, args: { step } } },
    }),
  },
  {
    name: "keys that come and go",
    state: (size) => ({ files: wide(size) }),
    update: (step) => ({ patch: step % 2 === 1 ? [[["files", "new"], step]] : [[["files", "new"]]] }),
  },
  {
    name: "a list of lists, patched and appended to",
    state: (size) => ({ rows: list(size / 10, () => list(10, (index) => index)) }),
    update: (step) => ({
      patch: [
        [["rows", 3, 9 + step], step],
        [["rows", 1, step], -1],
      ],
    }),
  },
];

const steps = 6;

/** Puts updates, or the states that they lead to, and returns the longest record of a step, and the last state. */
async function longestStep(odd: OddState, size: number, how: "update" | "state"): Promise<[number, unknown]> {
  let [longest, reads] = [0, 0];
  const inner = memory();
  const backend = forwarding(inner, {
    read: (asked) => {
      reads += 1;
      return inner.read(asked);
    },
    commit: (batches: readonly Batch[]) => {
      for (const { inserts = [] } of batches) {
        for (const { key, value } of inserts) if (key.table === "tail") longest = Math.max(longest, value.length);
      }
      return inner.commit(batches);
    },
  });
  const [store, model] = [await open<State>(backend), await open<State>("memory:")];
  const [thread, naive] = [store.thread("t"), model.thread("t")];
  const state = odd.state(size);
  await thread.put({ state });
  await naive.put({ state });
  longest = 0;
  reads = 0;
  for (let step = 1; step <= steps; step += 1) {
    const update = odd.update(step, size);
    if (how === "update") await thread.put({ update });
    else {
      await naive.put({ update });
      await thread.put({ state: (await naive.latest())?.state as State });
    }
  }
  expect(reads, "records read by puts").toBe(0);
  const last = (await thread.latest())?.state;
  await Promise.all([store.close(), model.close()]);
  return [longest, last];
}

for (const odd of oddStates) {
  test(`a step of ${odd.name} is stored in the bytes of its change, whatever the size of the state`, async () => {
    const [small] = await longestStep(odd, 100, "update");
    const [large, updated] = await longestStep(odd, 4_000, "update");
    const [whole, put] = await longestStep(odd, 4_000, "state");
    // Positions have more digits in longer lists; a patch at the bottom of deep nesting names every level.
    expect(large).toBeLessThan(small + 40);
    expect(whole).toBeLessThan(large + 200);
    expect(put).toEqual(updated);
  });
}
