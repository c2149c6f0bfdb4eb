import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  apply,
  applyOwned,
  compose,
  type Delta,
  diff,
  type SealedStep,
  seal,
  unseal,
  validate,
} from "../../../../src/codec/delta/index.ts";
import type { Json } from "../../../../src/codec/json.ts";
import { ThreadmarkError } from "../../../../src/errors.ts";
import { copyOf, histories, trees } from "./trees.ts";

/** Values that damage may put in: every type, numbers at the edges, pieces of deltas. */
const debris: fc.Arbitrary<Json> = fc.oneof(
  trees,
  fc.constantFrom<Json[]>(
    -1,
    0,
    0.5,
    2 ** 31,
    2 ** 53,
    1e308,
    null,
    true,
    "",
    [],
    {},
    [0],
    [0, 0],
    [[0, 1]],
    "__proto__",
  ),
  fc.constantFrom<Json[]>({ r: 1 }, { p: [1] }, { u: ["a"] }, { b: {} }, { n: 1 }, { h: ["a"] }, { l: 1, x: [[0, 1]] }),
);

const letters = [
  "r",
  "u",
  "s",
  "d",
  "o",
  "l",
  "e",
  "x",
  "p",
  "t",
  "a",
  "b",
  "h",
  "v",
  "k",
  "n",
  "y",
  "c",
  "w",
  "z",
  "__proto__",
];

/** Changes one node, found by a walk that the numbers decide. */
function damage(tree: Json, [turn = 0, way = 0, ...turns]: readonly number[], put: Json): Json {
  const isLeaf = typeof tree !== "object" || tree === null || Object.keys(tree).length === 0;
  if (isLeaf || turns.length === 0) return put;
  const keys = Object.keys(tree);
  const key = keys[turn % keys.length] as string;
  const entries = Object.entries(tree).flatMap(([name, value]): [string, Json][] => {
    if (name !== key) return [[name, value]];
    if (way % 8 === 0) return [];
    if (way % 8 === 1) return [[letters[turn % letters.length] as string, value]];
    if (way % 8 === 2)
      return [
        [name, value],
        [letters[turn % letters.length] as string, put],
      ];
    return [[name, damage(value, turns, put)]];
  });
  return Array.isArray(tree) ? entries.map(([, value]) => value) : Object.fromEntries(entries);
}

const walks = fc.array(fc.nat(1_000), { minLength: 2, maxLength: 14 });
const sequences = histories(2, 6).map((versions) => ({
  versions,
  deltas: versions.slice(1).map((after, index) => diff(versions[index] as Json, after) ?? {}),
}));

/** Runs an operation that may fail in one way only. Says whether it did not. */
function holds(operation: () => unknown): boolean {
  try {
    const result = operation();
    if (result !== undefined) JSON.stringify(result);
    return true;
  } catch (error) {
    if (error instanceof ThreadmarkError && error.code === "CORRUPT") return false;
    throw error;
  }
}

describe("a damaged delta", () => {
  it("a damaged delta is applied or refused as corrupt, and nothing else", () => {
    let applied = 0;
    let refused = 0;
    fc.assert(
      fc.property(sequences, walks, debris, ({ versions, deltas }, walk, put) => {
        const damaged = damage(copyOf(deltas[0] as Json), walk, put);
        const wellFormed = holds(() => validate(damaged));
        const fits = holds(() => apply(versions[0] as Json, damaged as Delta));
        expect(holds(() => applyOwned(copyOf(versions[0] as Json), copyOf(damaged) as Delta))).toBe(fits);
        if (fits) {
          applied++;
          expect(wellFormed).toBe(true);
        } else {
          refused++;
        }
      }),
      { numRuns: 2_000 },
    );
    expect(applied).toBeGreaterThan(100);
    expect(refused).toBeGreaterThan(100);
    expect(Object.keys(Object.prototype)).toEqual([]);
  });

  it("a damaged delta is refused when it is no delta at all", () => {
    fc.assert(
      fc.property(trees, trees, (tree, value) => {
        holds(() => validate(value));
        holds(() => apply(tree, value as Delta));
        holds(() => compose(value as Delta, tree as Delta));
        holds(() => seal([value as Delta, tree as Delta]));
        holds(() => unseal(value as Delta, tree as SealedStep[], 1));
      }),
      { numRuns: 2_000 },
    );
  });

  it("a damaged delta is composed and sealed or refused as corrupt, and nothing else", () => {
    fc.assert(
      fc.property(sequences, fc.nat(), walks, debris, ({ deltas }, which, walk, put) => {
        const all = copyOf(deltas) as Json[];
        all[which % all.length] = damage(all[which % all.length] as Json, walk, put);
        const [first = {}, ...others] = all as Delta[];
        const composes = holds(() => compose(first, {}, ...others));
        expect(holds(() => seal(all as Delta[]))).toBe(composes);
        if (composes) for (const delta of all) validate(delta);
      }),
      { numRuns: 2_000 },
    );
    expect(Object.keys(Object.prototype)).toEqual([]);
  });

  it("a damaged delta in a sealed sequence is unsealed or refused as corrupt, and nothing else", () => {
    let unsealed = 0;
    let refused = 0;
    fc.assert(
      fc.property(sequences, fc.boolean(), walks, debris, ({ versions, deltas }, inNet, walk, put) => {
        let { net, steps } = copyOf(seal(deltas));
        if (inNet) net = damage(net as Json, walk, put) as Delta;
        else steps = damage(steps as Json, walk, put) as unknown as SealedStep[];
        let result: Delta[] = [];
        if (!holds(() => (result = unseal(net, steps, deltas.length)))) {
          refused++;
          return;
        }
        unsealed++;
        holds(() => result.reduce(apply, versions[0] as Json));
      }),
      { numRuns: 2_000 },
    );
    expect(unsealed).toBeGreaterThan(100);
    expect(refused).toBeGreaterThan(100);
    expect(Object.keys(Object.prototype)).toEqual([]);
  });
});

describe("a number that is none", () => {
  // An object whose own toString is no function throws a TypeError of its own as soon as it is compared.
  const none = { toString: 1 } as unknown as number;
  const net: Delta = { l: 1, e: [[0, { s: { a: 1 } }]] };

  it.each<[string, () => unknown]>([
    ["as an index of a step", () => unseal(net, [{ l: 1, e: [[none, {}]] }], 1)],
    ["as a length of the net delta", () => unseal({ ...net, l: none }, [net], 1)],
    ["as a length of a delta", () => apply([1], { l: none, x: [[0, 1]] })],
    ["as a position", () => compose({ p: [1] }, { l: 1, x: [[none, none]] })],
    ["as a cursor", () => unseal({ p: [1] }, [{ n: [[none, none]] }], 1)],
    ["as a place in a text", () => unseal({ a: "text" }, [{ c: [none, none] }], 1)],
  ])("%s is refused as corrupt", (_name, operation) => {
    expect(holds(operation)).toBe(false);
  });
});

describe("a delta nested without end", () => {
  const nested = (depth: number, wrap: (inner: Delta) => Delta): Delta => {
    let delta: Delta = { r: 1 };
    for (let count = 0; count < depth; count++) delta = wrap(delta);
    return delta;
  };

  it.each([
    ["objects", (inner: Delta): Delta => ({ d: { a: inner } })],
    ["arrays", (inner: Delta): Delta => ({ l: 1, e: [[0, inner]] })],
  ])("of %s is refused before the stack is full", (_name, wrap) => {
    const delta = nested(100_000, wrap);
    let tree: Json = 0;
    for (let count = 0; count < 100_000; count++) tree = "d" in wrap({}) ? { a: tree } : [tree];
    for (const operation of [
      () => validate(delta as Json),
      () => apply(tree, delta),
      () => compose(delta, delta),
      () => seal([delta, delta]),
      () => unseal(delta, [delta], 1),
    ]) {
      expect(holds(operation)).toBe(false);
    }
  });
});
