import { describe, expect, it } from "vitest";
import { loadedEntry, TreeCache, type TreeEntry } from "../../../../src/engine/memory/tree-cache.ts";

const home = { name: "1:1", meta: {} };

function cached(limit = 1 << 20): { readonly trees: TreeCache; readonly entry: TreeEntry } {
  const trees = new TreeCache(limit);
  const entry = loadedEntry({ tree: { s: { list: [1] } }, tagged: false, weight: 100, hops: 1 });
  trees.set(home, 1, entry);
  return { trees, entry };
}

describe("a remembered tree", () => {
  it("a remembered tree refuses a reader that goes on after it has returned", () => {
    const { trees } = cached();
    expect(() => trees.read(home, 1, async ({ tree }) => tree)).toThrow(TypeError);
    expect(trees.read(home, 1, ({ tree }) => JSON.stringify(tree))).toBe('{"s":{"list":[1]}}');
    expect(trees.read(home, 2, () => 1)).toBeUndefined();
  });

  it("a remembered tree is copied for a caller that keeps it, so that a later change in place does not reach the copy", () => {
    const { trees, entry } = cached();
    const copy = trees.copy(home, 1);
    (entry.tree as { s: { list: number[] } }).s.list.push(2);
    expect(copy).toEqual({ tree: { s: { list: [1] } }, tagged: false, weight: 100, hops: 1 });
  });

  it("a remembered tree is not found once a compaction has folded replacements into frames", () => {
    const { trees } = cached();
    expect(trees.copy({ ...home, meta: { folds: 1 } }, 1)).toBeUndefined();
  });

  it("a remembered tree gives way to its outline, which no reader of whole trees is given", () => {
    const { trees } = cached(20_000);
    const body = { s: { list: [1], text: "x".repeat(5_000) }, p: [], n: [], c: [], i: [], b: [] };
    trees.set(home, 2, loadedEntry({ tree: body, tagged: false, weight: 6_000, hops: 1 }));
    trees.set(home, 3, loadedEntry({ tree: body, tagged: false, weight: 6_000, hops: 1 }));
    expect(trees.read(home, 2, () => true)).toBeUndefined();
    expect(trees.wholeOrOutline(home, 2)?.tree).toMatchObject({ s: { list: [] } });
    expect(trees.read(home, 3, () => true)).toBe(true);
  });
});
