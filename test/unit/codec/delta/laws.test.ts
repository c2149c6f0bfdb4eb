import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  apply,
  applyOwned,
  compose,
  type Delta,
  diff,
  seal,
  unseal,
  validate,
} from "../../../../src/codec/delta/index.ts";
import type { Json } from "../../../../src/codec/json.ts";
import { copyOf, freeze, histories, textOf, trees } from "./trees.ts";

/** The deltas along a history; `{}` where nothing changed. */
function deltasOf(versions: readonly Json[]): Delta[] {
  return versions.slice(1).map((after, index) => diff(versions[index] as Json, after) ?? {});
}

describe("a diff", () => {
  it("applied to the tree before gives the tree after, for trees that have nothing to do with each other", () => {
    fc.assert(
      fc.property(trees, trees, (before, after) => {
        const delta = diff(freeze(before), freeze(after));
        expect(delta === undefined).toBe(textOf(before) === textOf(after));
        if (delta !== undefined) expect(textOf(apply(before, freeze(delta)))).toBe(textOf(after));
      }),
      { numRuns: 2_000 },
    );
  });

  it("applied to the tree before gives the tree after, for edits anywhere in a tree", () => {
    fc.assert(
      fc.property(histories(2, 2), ([before, after]) => {
        const delta = diff(freeze(before as Json), freeze(after as Json));
        expect(delta === undefined).toBe(textOf(before) === textOf(after));
        if (delta !== undefined) expect(textOf(apply(before as Json, freeze(delta)))).toBe(textOf(after));
      }),
      { numRuns: 2_000 },
    );
  });

  it("a diff is the same whether or not the trees share nodes", () => {
    fc.assert(
      fc.property(histories(2, 2), ([before, after]) => {
        expect(textOf(diff(before as Json, after as Json))).toBe(textOf(diff(copyOf(before as Json), after as Json)));
      }),
      { numRuns: 1_000 },
    );
  });

  it("a diff is a well-formed delta, and survives being stringified", () => {
    fc.assert(
      fc.property(histories(2, 2), ([before, after]) => {
        const delta = copyOf(diff(before as Json, after as Json) ?? {}) as Json;
        validate(delta);
        expect(textOf(apply(before as Json, delta))).toBe(textOf(after));
      }),
      { numRuns: 1_000 },
    );
  });

  it("a diff is never larger than the tree after, but for a few characters", () => {
    fc.assert(
      fc.property(histories(2, 2), ([before, after]) => {
        const delta = diff(before as Json, after as Json);
        // Lone surrogates and control characters are escaped, which the choice of a replacement does not count.
        const escapes = textOf(after).split("\\").length * 6;
        if (delta !== undefined) expect(textOf(delta).length).toBeLessThanOrEqual(textOf(after).length + 6 + escapes);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe("applying in place", () => {
  it("applying in place gives what applying gives", () => {
    fc.assert(
      fc.property(histories(2, 10), (versions) => {
        const deltas = deltasOf(versions);
        let tree = copyOf(versions[0] as Json);
        for (const [index, delta] of deltas.entries()) {
          tree = applyOwned(tree, copyOf(delta));
          expect(textOf(tree)).toBe(textOf(versions[index + 1]));
        }
      }),
      { numRuns: 1_000 },
    );
  });
});

describe("a composition", () => {
  it("a composition does what its parts do one after the other, and leaves them as they were", () => {
    fc.assert(
      fc.property(histories(3, 10), (versions) => {
        const deltas = freeze(deltasOf(versions));
        const all = deltas.reduce((first, second) => freeze(compose(first, second)));
        validate(copyOf(all) as Json);
        expect(textOf(apply(versions[0] as Json, all))).toBe(textOf(versions.at(-1)));
      }),
      { numRuns: 1_000 },
    );
  });

  it("a composition is the same however the parts are grouped", () => {
    fc.assert(
      fc.property(histories(4, 4), (versions) => {
        const [one, two, three] = deltasOf(versions) as [Delta, Delta, Delta];
        const base = versions[0] as Json;
        const expected = textOf(versions.at(-1));
        expect(textOf(apply(base, compose(compose(one, two), three)))).toBe(expected);
        expect(textOf(apply(base, compose(one, compose(two, three))))).toBe(expected);
        expect(textOf(apply(base, compose(one, two, three)))).toBe(expected);
      }),
      { numRuns: 1_000 },
    );
  });

  it("a composition holds for every tree that the parts apply to, not only the one they were made from", () => {
    const sort = (tree: Json): Json =>
      typeof tree === "object" && tree !== null && !Array.isArray(tree)
        ? Object.fromEntries(Object.entries(tree).sort(([one], [other]) => (one < other ? -1 : 1)))
        : tree;
    fc.assert(
      fc.property(histories(3, 4), (versions) => {
        const deltas = deltasOf(versions);
        let expected: Json = sort(versions[0] as Json);
        try {
          for (const delta of deltas) expected = apply(expected, delta);
        } catch {
          return;
        }
        expect(
          textOf(
            apply(
              sort(versions[0] as Json),
              deltas.reduce((a, b) => compose(a, b)),
            ),
          ),
        ).toBe(textOf(expected));
      }),
      { numRuns: 1_000 },
    );
  });
});

describe("a sealed sequence", () => {
  const sealedHistories = fc.oneof(
    histories(2, 10),
    histories(2, 10).map((versions) => [null, ...versions]),
  );

  it("a sealed sequence has the composition as its net, and gives each delta back", () => {
    fc.assert(
      fc.property(sealedHistories, (versions) => {
        const deltas = freeze(deltasOf(versions));
        const sealed = copyOf(seal(deltas));
        expect(textOf(apply(versions[0] as Json, sealed.net))).toBe(textOf(versions.at(-1)));
        for (const count of [0, 1, Math.floor(deltas.length / 2), deltas.length]) {
          const unsealed = unseal(sealed.net, sealed.steps, count);
          expect(unsealed).toEqual(deltas.slice(0, count));
          let tree = versions[0] as Json;
          for (const [index, delta] of unsealed.entries()) {
            tree = apply(tree, delta);
            expect(textOf(tree)).toBe(textOf(versions[index + 1]));
          }
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it("a sealed sequence gives back deltas that can be applied in place without one changing another", () => {
    fc.assert(
      fc.property(sealedHistories, (versions) => {
        // Deltas of unshared trees, as they are when read from a store.
        const sealed = copyOf(seal(copyOf(deltasOf(versions))));
        let tree = copyOf(versions[0] as Json);
        for (const [index, delta] of unseal(sealed.net, sealed.steps, sealed.steps.length).entries()) {
          tree = applyOwned(tree, delta);
          expect(textOf(tree)).toBe(textOf(versions[index + 1]));
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it("a sealed sequence leaves its arguments as they were", () => {
    fc.assert(
      fc.property(sealedHistories, (versions) => {
        const deltas = freeze(deltasOf(versions));
        const sealed = freeze(seal(deltas));
        unseal(sealed.net, sealed.steps, deltas.length);
      }),
      { numRuns: 500 },
    );
  });
});
