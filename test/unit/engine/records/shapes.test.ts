import fc from "fast-check";
import { expect, test } from "vitest";
import type { Json } from "../../../../src/codec/json.ts";
import { type PackedTrees, packTrees, unpackTrees } from "../../../../src/engine/records/pack/shapes.ts";
import { ThreadmarkError } from "../../../../src/errors.ts";

const key = fc.constantFrom("s", "d", "turn", "__proto__", "2", "1", 'quo"te', "");
const json = fc.letrec<{ tree: Json }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4 },
    fc.oneof(fc.string(), fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean()),
    fc.constant(null),
    fc.array(tie("tree"), { maxLength: 4 }),
    fc.array(fc.tuple(key, tie("tree")), { maxLength: 4 }).map(fromEntries),
  ),
})).tree;

/** As JSON.parse makes them: "__proto__" is a key like any other. */
function fromEntries(entries: readonly (readonly [string, Json])[]): Json {
  return JSON.parse(
    `{${entries.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(",")}}`,
  );
}

/** Lists of trees that are much alike: few trees, each with its leaves changed. */
const alike = fc
  .tuple(fc.array(json, { minLength: 1, maxLength: 3 }), fc.array(fc.tuple(fc.nat(), fc.oneof(fc.nat(), fc.string()))))
  .map(([trees, changes]) => changes.map(([pick, leaf]) => changed(trees[pick % trees.length] as Json, leaf)));

function changed(tree: Json, leaf: Json): Json {
  return JSON.parse(JSON.stringify(tree), (_, value: Json) => (typeof value === "number" ? leaf : value)) as Json;
}

const stored = (packed: PackedTrees): PackedTrees => JSON.parse(JSON.stringify(packed)) as PackedTrees;

test("trees come back from their shapes as they were, to the order of their keys", () => {
  fc.assert(
    fc.property(fc.oneof(fc.array(json), alike), (trees) => {
      const text = JSON.stringify(trees);
      expect(JSON.stringify(unpackTrees(stored(packTrees(trees))))).toBe(text);
      expect(JSON.stringify(trees)).toBe(text);
    }),
    { numRuns: 2_000 },
  );
});

test("no two trees share a node: each may be changed by itself", () => {
  const [first, second] = unpackTrees(packTrees([{ a: [1] }, { a: [1] }, { a: [1] }])) as { a: number[] }[];
  first?.a.push(2);
  expect(second).toEqual({ a: [1] });
});

test("steps with the same keys cost their values only", () => {
  const steps = Array.from({ length: 64 }, (_, turn) => ({
    d: { s: { s: { turn, last: `m${turn}`, status: turn % 2 ? "act" : "plan" } }, p: { n: 1 } },
  }));
  expect(JSON.stringify(packTrees(steps)).length).toBeLessThan(JSON.stringify(steps).length / 5);
});

test("steps that change one key each of a map cost the key and its value", () => {
  const steps = Array.from({ length: 64 }, (_, turn) => ({
    d: {
      s: {
        s: { turn, versions: { files: turn, agent: turn - 1 } },
        d: { files: { d: { [`file-${turn}`]: { a: "x" } } } },
      },
    },
  }));
  const packed = packTrees(steps);
  expect(JSON.stringify(packed).length).toBeLessThan(64 * 16);
  expect(unpackTrees(stored(packed))).toEqual(steps);
});

test("damage is told, and never believed", () => {
  const packed = packTrees(Array.from({ length: 9 }, (_, n) => ({ n, text: `t${n}`, kind: { [`k${n}`]: n % 3 } })));
  const text = JSON.stringify(packed);
  fc.assert(
    fc.property(fc.nat(text.length), fc.constantFrom("", "9", "1e9", "null", "[", '"', "-1", "{}"), (at, put) => {
      let damaged: PackedTrees;
      try {
        damaged = JSON.parse(text.slice(0, at) + put + text.slice(at + 1)) as PackedTrees;
      } catch {
        return;
      }
      try {
        unpackTrees(damaged);
      } catch (error) {
        expect(error).toBeInstanceOf(ThreadmarkError);
      }
    }),
    { numRuns: 2_000 },
  );
});
