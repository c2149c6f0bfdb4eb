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
import type { Json, JsonObject } from "../../../../src/codec/json.ts";
import { copyOf, freeze, textOf } from "./trees.ts";

const FILLER = "a value that is long enough to be worth keeping in its place";

/** Returns an object with these keys, and values that are worth a delta. */
function objectOf(keys: readonly string[]): JsonObject {
  return Object.fromEntries(keys.map((key) => [key, `${key}: ${FILLER}`]));
}

const names = fc.constantFrom("a", "b", "c", "d", "e", "f", "g", "h", "7", "__proto__");

/** The names without the one that JavaScript keeps in front. */
const placeable = names.filter((name) => name !== "7");

/** Inserts a key anywhere, which moves one that is there; removes one; or changes the value of one. */
const edits = fc.oneof(
  fc.record({ kind: fc.constant("insert" as const), key: names, at: fc.nat(9) }),
  fc.record({ kind: fc.constant("remove" as const), key: names }),
  fc.record({
    kind: fc.constant("change" as const),
    key: names,
    value: fc.constantFrom(`one ${FILLER}`, `two ${FILLER}`),
  }),
);

type Edit = typeof edits extends fc.Arbitrary<infer Value> ? Value : never;

function edited(tree: JsonObject, edit: Edit): JsonObject {
  const entries = Object.entries(tree).filter(([key]) => edit.kind === "change" || key !== edit.key);
  if (edit.kind === "insert") entries.splice(edit.at, 0, [edit.key, `${edit.key}: ${FILLER}`]);
  if (edit.kind === "change") for (const entry of entries) if (entry[0] === edit.key) entry[1] = edit.value;
  return Object.fromEntries(entries);
}

/** Versions of an object, several edits apart. */
const histories = fc
  .tuple(
    fc.uniqueArray(names, { maxLength: 10 }),
    fc.array(fc.array(edits, { maxLength: 4 }), { minLength: 1, maxLength: 8 }),
  )
  .map(([keys, steps]) => {
    const versions = [objectOf(keys)];
    for (const step of steps) versions.push(step.reduce(edited, versions.at(-1) as JsonObject));
    return versions;
  });

/** Deltas with places whose anchors need not be there. */
const deltas = fc
  .record({
    u: fc.uniqueArray(names, { maxLength: 3 }),
    set: fc.uniqueArray(names, { maxLength: 4 }),
    anchors: fc.uniqueArray(placeable, { minLength: 4, maxLength: 4 }),
    placed: fc.array(fc.nat(4), { minLength: 4, maxLength: 4 }),
  })
  .map(({ u, set, anchors, placed }): Delta => {
    const m = anchors
      .map((anchor, index): [string, ...string[]] => [
        anchor,
        ...set.filter((key, at) => key !== "7" && placed[at] === index),
      ])
      .filter(({ length }) => length > 1);
    return { ...(u.length > 0 && { u }), s: objectOf(set), ...(m.length > 0 && { m }) };
  });

function deltasOf(versions: readonly Json[]): Delta[] {
  return versions.slice(1).map((after, index) => diff(versions[index] as Json, after) ?? {});
}

/** Applies deltas one after the other; undefined if one of them does not fit. */
function applied(tree: Json, all: readonly Delta[]): Json | undefined {
  try {
    return all.reduce(apply, tree);
  } catch {
    return undefined;
  }
}

describe("the order of keys", () => {
  it("a diff of objects whose keys were inserted, moved and removed anywhere gives the tree after, in place too", () => {
    fc.assert(
      fc.property(histories, (versions) => {
        let owned = copyOf(versions[0] as Json);
        for (const [index, delta] of deltasOf(versions).entries()) {
          validate(copyOf(delta) as Json);
          expect(textOf(apply(freeze(versions[index] as Json), freeze(delta)))).toBe(textOf(versions[index + 1]));
          owned = applyOwned(owned, copyOf(delta));
          expect(textOf(owned)).toBe(textOf(versions[index + 1]));
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it("a composition orders the keys as its parts do one after the other, however they are grouped", () => {
    fc.assert(
      fc.property(histories, fc.nat(7), (versions, cut) => {
        const all = freeze(deltasOf(versions));
        const from = (start: number, end?: number): Delta =>
          all.slice(start, end).reduce((one, two) => compose(one, two), {});
        expect(textOf(apply(versions[0] as Json, from(0)))).toBe(textOf(versions.at(-1)));
        expect(textOf(apply(versions[0] as Json, compose(from(0, cut), from(cut))))).toBe(textOf(versions.at(-1)));
      }),
      { numRuns: 2_000 },
    );
  });

  it("a composition holds for every object that the parts apply to, whichever of the anchors it has", () => {
    let fitting = 0;
    fc.assert(
      fc.property(fc.uniqueArray(names), fc.array(deltas, { minLength: 2, maxLength: 5 }), (keys, all) => {
        const tree = objectOf(keys);
        const expected = applied(tree, all);
        if (expected === undefined) return;
        fitting += 1;
        expect(
          textOf(
            apply(
              tree,
              all.reduce((one, two) => compose(one, two)),
            ),
          ),
        ).toBe(textOf(expected));
      }),
      { numRuns: 10_000 },
    );
    expect(fitting).toBeGreaterThan(500);
  });

  it("an order of all keys and places of single ones compose, in either sequence", () => {
    const keys = ["a", "b", "c"];
    const ordered: Delta = { o: ["c", "a", "b"] };
    const placed: Delta = {
      u: ["b"],
      s: objectOf(["d", "b"]),
      m: [
        ["a", "d"],
        ["c", "b"],
      ],
    };
    const reversed: Delta = { o: ["d", "c", "b", "a"] };
    for (const [first, second] of [
      [ordered, placed],
      [placed, reversed],
    ] as const) {
      const expected = apply(apply(objectOf(keys), first), second);
      expect(textOf(apply(objectOf(keys), compose(first, second)))).toBe(textOf(expected));
    }
  });

  it("a sealed sequence of such changes gives each of them back", () => {
    fc.assert(
      fc.property(histories, (versions) => {
        const all = deltasOf(versions);
        const sealed = copyOf(seal(freeze(all)));
        expect(textOf(apply(versions[0] as Json, sealed.net))).toBe(textOf(versions.at(-1)));
        expect(unseal(sealed.net, sealed.steps, all.length)).toEqual(all);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe("the size of a delta", () => {
  const keys = Array.from({ length: 2_000 }, (_, index) => `key-${index}`);
  const items = objectOf(keys);
  const item = { name: "new" };

  it("a key in front, in the middle or moved to the front costs itself and the name of one other", () => {
    const [first, ...others] = Object.entries(items);
    const cases: readonly Json[] = [
      { fresh: item, ...items },
      Object.fromEntries([first as [string, Json], ["fresh", item], ...others]),
      { "key-1999": items["key-1999"] as Json, ...items },
      // Moved while another is set and a third removed.
      Object.fromEntries([["key-7", 1], ...others.filter(([key]) => key !== "key-7"), ["fresh", item]]),
    ];
    for (const after of cases) {
      const delta = diff(items, after) as Delta;
      expect(textOf(delta).length).toBeLessThan(200);
      expect(textOf(apply(items, delta))).toBe(textOf(after));
    }
  });

  it("the net of keys that come in front one after the other has each key twice, and one anchor", () => {
    let tree: Json = items;
    const all = Array.from({ length: 50 }, (_, index): Delta => {
      const after: Json = { [`new-${index}`]: index, ...(tree as JsonObject) };
      const delta = diff(tree, after) as Delta;
      tree = after;
      return delta;
    });
    const { net, steps } = seal(all);
    expect(net.m).toEqual([["key-0", ...Array.from({ length: 50 }, (_, index) => `new-${49 - index}`)]]);
    expect(textOf(net).length).toBeLessThan(2_000);
    expect(textOf(steps).length).toBeLessThan(4_000);
    expect(textOf(apply(items, net))).toBe(textOf(tree));
  });
});

describe("a malformed delta with places", () => {
  const tree = objectOf(["a", "b"]);
  const faulty: Readonly<Record<string, Delta>> = {
    "a key that is not set": { m: [["a", "c"]] },
    "a key that is there": { s: { b: 1 }, m: [["a", "b"]] },
    "a key twice": {
      s: { c: 1 },
      m: [
        ["a", "c"],
        ["b", "c"],
      ],
    },
    "an index": { s: { 7: 1 }, m: [["a", "7"]] },
    "keys before an index": { s: { c: 1 }, m: [["7", "c"]] },
    "an anchor twice": {
      s: { c: 1, d: 1 },
      m: [
        ["a", "c"],
        ["a", "d"],
      ],
    },
    "an anchor alone": { s: { c: 1 }, m: [["a"]] },
    "no list": { s: { c: 1 }, m: "a" as never },
    "a number": { s: { c: 1 }, m: [["a", 1 as never]] },
  };

  it.each(Object.keys(faulty))("a delta that places %s is refused as CORRUPT", (name) => {
    expect(() => apply(tree, faulty[name] as Delta)).toThrow(expect.objectContaining({ code: "CORRUPT" }));
    expect(() => compose({ s: objectOf(["a", "b"]) }, faulty[name] as Delta)).toThrow(
      expect.objectContaining({ code: "CORRUPT" }),
    );
  });
});
