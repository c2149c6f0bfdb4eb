import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { diff } from "../../../../src/codec/delta/index.ts";
import type { Json } from "../../../../src/codec/json.ts";
import { TreeOwner } from "../../../../src/engine/memory/tree-owner.ts";
import { trees } from "../../codec/delta/trees.ts";

describe("the owner of a remembered tree", () => {
  it("a tree is not changed in place while an input borrows it", () => {
    const owner = new TreeOwner();
    owner.borrow();
    owner.borrow();
    owner.giveBack();
    expect(() => owner.advance({ list: [1] }, { d: { list: { p: [2] } } })).toThrow("lent");
    owner.giveBack();
    expect(owner.advance({ list: [1] }, { d: { list: { p: [2] } } })).toEqual({ list: [1, 2] });
    expect(() => owner.giveBack()).toThrow("not lent");
  });

  it("leaves the first tree and every change as they were, whatever it changes in place", () => {
    fc.assert(
      fc.property(trees, fc.array(trees, { maxLength: 6 }), (first, following) => {
        const owner = new TreeOwner();
        const before = JSON.stringify(first);
        let tree: Json = first;
        let last = before;
        const changes = following.map((next) => {
          const change = diff(JSON.parse(last) as Json, next) ?? {};
          last = JSON.stringify(next);
          return { change, text: JSON.stringify(change), next };
        });
        for (const { change, next } of changes) {
          tree = owner.advance(tree, change);
          expect(tree).toEqual(next);
        }
        expect(JSON.stringify(first)).toBe(before);
        for (const { change, text } of changes) expect(JSON.stringify(change)).toBe(text);
      }),
      { numRuns: 500 },
    );
  });

  it("changes a list that it has copied before in place", () => {
    const owner = new TreeOwner();
    const push = { d: { list: { p: [2] } } };
    const once = owner.advance({ list: [1] }, push) as { list: Json[] };
    const { list } = once;
    const twice = owner.advance(once, push) as { list: Json[] };
    expect(twice.list).toBe(list);
  });
});
