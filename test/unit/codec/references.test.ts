import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { apply, compose, type Delta, diff, seal, unseal } from "../../../src/codec/delta/index.ts";
import type { Json } from "../../../src/codec/json.ts";
import { addNames, isReference, namesIn, referenceTo, resolveCopied } from "../../../src/codec/references.ts";
import { LargeParts } from "../../../src/engine/bodies/values/large-parts.ts";
import { resolverOf } from "../../../src/engine/bodies/values/resolver.ts";
import { largeValue } from "../../../src/engine/records/values.ts";

/** Names every value from 12 characters on, and remembers it. */
function referring() {
  const values = new Map<string, string>();
  const keep = (json: string): Json => {
    const value = largeValue(json);
    values.set(value.name, json);
    return referenceTo(value);
  };
  const parts = new LargeParts(12, { string: (text) => keep(JSON.stringify(text)), container: keep });
  const resolve = resolverOf((name) => JSON.parse(values.get(name) as string));
  return { parts, resolved: (tree: Json): Json => resolveCopied(tree, resolve), values };
}

const text = fc.oneof(
  fc.constantFrom("a first document\n", "a second document\nof two lines\n", "short"),
  fc.string({ maxLength: 30 }),
);
const leaf = fc.oneof(text, fc.integer(), fc.constant(null), fc.array(fc.integer(), { maxLength: 8 }));
const { state } = fc.letrec<{ state: Json; node: Json }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 3 },
    leaf,
    fc.array(tie("node"), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom("a", "b", "$", "c"), tie("node"), { maxKeys: 4 }),
  ) as fc.Arbitrary<Json>,
  state: fc.dictionary(fc.constantFrom("a", "b", "c", "d"), tie("node"), { maxKeys: 4 }) as fc.Arbitrary<Json>,
}));
/** Trees as a body has them: parts are never values themselves. */
const bodies = fc.array(state, { minLength: 2, maxLength: 6 }).map((states) => states.map((s) => ({ s }) as Json));

function stepsOf(trees: readonly Json[]): Delta[] {
  return trees.map((tree, index) => (index === 0 ? { r: tree } : (diff(trees[index - 1] as Json, tree) ?? {})));
}

describe("references", () => {
  it("deltas with references lead to the same trees, however they are joined", () => {
    fc.assert(
      fc.property(bodies, (trees) => {
        const { parts, resolved } = referring();
        const steps = stepsOf(trees).map((step) => parts.inDelta(step));
        let tree: Json = null;
        for (const [index, step] of steps.entries()) {
          tree = apply(tree, step);
          expect(resolved(tree)).toEqual(trees[index]);
        }
        const joined = compose(...(steps as [Delta, Delta]));
        expect(resolved(apply(null, joined))).toEqual(trees.at(-1));
      }),
      { numRuns: 500 },
    );
  });

  it("sealed steps with references come back, each by itself", () => {
    fc.assert(
      fc.property(bodies, (trees) => {
        const { parts, resolved } = referring();
        const steps = stepsOf(trees).map((step) => parts.inDelta(step));
        const { net, steps: sealed } = JSON.parse(JSON.stringify(seal(steps)));
        const back = unseal(net, sealed, sealed.length);
        expect(JSON.parse(JSON.stringify(back))).toEqual(JSON.parse(JSON.stringify(steps)));
        expect(resolved(apply(null, net))).toEqual(trees.at(-1));
      }),
      { numRuns: 500 },
    );
  });

  it("a change between trees with references never looks into one", () => {
    fc.assert(
      fc.property(bodies, (trees) => {
        const { parts, resolved } = referring();
        const steps = stepsOf(trees).map((step) => parts.inDelta(step));
        const first = apply(null, steps[0] as Delta);
        const last = steps.slice(1).reduce((tree, step) => apply(tree, step), first);
        const change = diff(first, last) ?? {};
        // Made of trees with references, it also fits the tree with values.
        expect(resolved(apply(trees[0] as Json, change))).toEqual(trees.at(-1));
      }),
      { numRuns: 500 },
    );
  });

  it("names are found in text and in trees alike, and strings that look like references are none", () => {
    fc.assert(
      fc.property(bodies, fc.string(), (trees, other) => {
        const { parts } = referring();
        const fake = JSON.stringify({ $: { $: "value", v: "A".repeat(43), n: 9 } });
        const steps = [...stepsOf(trees).map((step) => parts.inDelta(step)), { r: [fake, `${other}${fake}`] }];
        const names = new Map<string, number>();
        addNames(steps as Json, names);
        expect(new Map(namesIn(JSON.stringify(steps)))).toEqual(names);
        expect(names.has("A".repeat(43))).toBe(false);
      }),
    );
  });

  it("an escaped object of a user is no reference, whatever it holds", () => {
    for (const node of [{ $: "value", v: "x" }, { $: ["value"] }, { $: { v: "x" } }, { $: null }, ["$"], "$"]) {
      expect(isReference(node as Json)).toBe(false);
    }
  });

  it("an edit of a value becomes a part of its reference", () => {
    const { parts, resolved, values } = referring();
    const before = { s: { doc: `one\ntwo\n${"three\n".repeat(30)}four\n` } };
    const after = { s: { doc: `one\nTWO\n${"three\n".repeat(30)}four\n` } };
    const last = { s: { doc: `one\nTWO\n${"three\n".repeat(30)}FOUR\n` } };
    const steps = stepsOf([before, after, last]).map((step) => parts.inDelta(step));
    expect(values.size).toBe(1);
    const net = compose(...(steps as [Delta, Delta, Delta]));
    expect(JSON.stringify(net)).not.toContain("three");
    expect(JSON.stringify(net).match(/"v":"/g)).toHaveLength(1);
    expect(resolved(apply(null, net))).toEqual(last);
  });
});
