import { describe, expect, it } from "vitest";
import {
  apply,
  applyOwned,
  compose,
  type Delta,
  type SealedStep,
  seal,
  unseal,
  validate,
} from "../../../../src/codec/delta/index.ts";
import type { Json } from "../../../../src/codec/json.ts";
import { ThreadmarkError } from "../../../../src/errors.ts";
import { copyOf } from "./trees.ts";

const tree = { a: [1, { b: "text" }, 3], s: "some text", o: { x: 1, y: 2 }, z: null };

/** Between them they have every letter of a delta. */
const deltas: Delta[] = [
  { r: tree },
  { u: ["z"], s: { n: 1, list: ["a long enough text"] }, d: { a: { p: [{ c: 1 }] }, s: { a: " that is appended" } } },
  {
    d: {
      a: { l: 4, e: [[1, { d: { b: { l: 4, t: [[1, 2, "a text put in"]] } } }]], x: [[2, 1, { d: 2 }]], p: [{ c: 2 }] },
      o: { o: ["y", "x"] },
      list: { l: 1, e: [[0, { a: " and a longer one" }]], p: [5] },
    },
  },
  {
    s: { n: 2, late: { text: "a value that stays", more: [1] } },
    d: {
      a: {
        l: 5,
        x: [
          [0, 1],
          [4, 1],
        ],
      },
    },
  },
];

/** Between them they have every letter of a step. */
const steps: SealedStep[] = [
  { b: { l: 3, x: [[1, 1]] } },
  { h: ["a"], v: { b: { u: ["x"] } }, s: { c: 1 }, k: ["b", "c", "a"], d: { d: { n: 1 } } },
  { d: { d: { n: [1, [0, 1], { r: 1 }, { b: { r: 2 } }] } } },
  { d: { d: { l: 9, y: [[0, 1, 1, [0, 1], { r: 1 }]], e: [[0, { s: { a: 1 } }]] } } },
  { d: { e: { c: 2 } } },
  { d: { e: { c: [0, 2] } } },
  {
    d: {
      e: {
        l: 9,
        w: [
          [0, 1, "x"],
          [2, 1, 0, 2],
        ],
      },
    },
  },
];
const net: Delta = {
  s: { a: [1], b: { x: 1, y: 2 } },
  d: {
    d: { l: 9, e: [[0, { s: { a: 1 } }]], x: [[1, 0, "x"]], p: [1, 2, 3] },
    e: { l: 9, t: [[0, 1, "text"]], a: "more" },
  },
};

const debris: Json[] = [
  ...[null, true, -1, 0, 1, 0.5, 2 ** 31, 2 ** 53, "", "toString", "__proto__", [], [0], [0, 0], [null], [[0, 1]], {}],
  ...[{ r: 1 }, { p: 1 }, { b: {} }, { toString: 1, valueOf: 1, length: 1 }, { l: 1, x: [null] }, { l: 1, e: [[0]] }],
  JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}') as Json,
];

/** Every copy of the value with one node replaced, or one removed. */
function* damaged(value: Json): Generator<Json> {
  for (const put of debris) yield copyOf(put);
  if (typeof value !== "object" || value === null) return;
  for (const key of Object.keys(value)) {
    const entries = Object.entries(value);
    const rebuild = (parts: [string, Json][]): Json =>
      Array.isArray(value) ? parts.map(([, part]) => part) : (Object.fromEntries(parts) as Json);
    yield rebuild(entries.filter(([name]) => name !== key));
    for (const letter of "rusdolexptabhvknycwz")
      yield rebuild(entries.map(([name, part]) => [name === key ? letter : name, part]));
    for (const part of damaged(Object.entries(value).find(([name]) => name === key)?.[1] as Json)) {
      yield rebuild(entries.map(([name, old]) => [name, name === key ? part : old]));
    }
  }
}

function isRefused(operation: () => unknown): boolean {
  try {
    operation();
    return false;
  } catch (error) {
    if (error instanceof ThreadmarkError && error.code === "CORRUPT") return true;
    throw error;
  }
}

describe("damage to any one node", () => {
  it.each(deltas.map((delta, index) => [index, delta] as const))(
    "of delta %i never gives another error",
    (index, delta) => {
      const before = deltas.slice(0, index).reduce(apply, null as Json);
      let refused = 0;
      for (const value of damaged(delta as Json)) {
        const bad = value as Delta;
        const malformed = isRefused(() => validate(value));
        if (malformed) refused++;
        if (malformed) expect(isRefused(() => apply(before, bad))).toBe(true);
        isRefused(() => applyOwned(copyOf(before), copyOf(bad)));
        isRefused(() => compose(bad, deltas[1] as Delta));
        isRefused(() => seal([...deltas.slice(0, index), bad, ...deltas.slice(index + 1)]));
        isRefused(() => unseal(bad, steps, steps.length));
      }
      if (index > 0) expect(refused).toBeGreaterThan(50);
      expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    },
  );

  it.each(steps.map((step, index) => [index, step] as const))(
    "of step %i never gives another error",
    (_index, step) => {
      const source: Delta = step.b === undefined ? net : { r: [1, 2, 3] };
      expect(isRefused(() => unseal(source, [step], 1))).toBe(false);
      let refused = 0;
      for (const value of damaged(step as Json)) {
        const result: Delta[] = [];
        if (isRefused(() => result.push(...unseal(source, [value as SealedStep], 1)))) refused++;
        for (const delta of result) {
          isRefused(() => apply(tree, delta));
          isRefused(() => compose(net, delta));
        }
      }
      expect(refused).toBeGreaterThan(20);
      for (const value of damaged(source as Json)) isRefused(() => unseal(value as Delta, [step], 1));
      expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    },
  );
});
