import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { diff, OwnedCopies } from "../../../../src/codec/delta/index.ts";
import type { Json } from "../../../../src/codec/json.ts";
import { createValueCodec } from "../../../../src/codec/values/value.ts";

/** Long lists of objects are compared with a layout of what they had, kept from one encoding to the next. */
const codec = createValueCodec();

type Message = Record<string, unknown>;

const field = fc.oneof(
  fc.constantFrom("", "said", null, true, 0, -0, Number.NaN, undefined, 5n),
  fc.date({ noInvalidDate: true }),
  fc.string({ maxLength: 3 }),
  fc.record({ deep: fc.array(fc.integer({ max: 3, min: 0 }), { maxLength: 3 }) }),
);
const message = fc.dictionary(fc.constantFrom("id", "content", "tokens", "$", "__proto__", "length"), field, {
  maxKeys: 3,
});
const element = fc.oneof({ weight: 8, arbitrary: message }, fc.constantFrom("text", 7, null), fc.array(field));

/** Something done to a list in place: identity says nothing of what changed. */
type Edit = (list: unknown[]) => void;
const place = fc.nat({ max: 29 });
const edit: fc.Arbitrary<Edit> = fc.oneof(
  element.map(
    (added): Edit =>
      (list) =>
        void list.push(added),
  ),
  element.map(
    (added): Edit =>
      (list) =>
        void list.unshift(added),
  ),
  place.map(
    (at): Edit =>
      (list) =>
        void list.splice(at % Math.max(1, list.length), 1),
  ),
  fc.constant<Edit>((list) => void list.reverse()),
  fc.tuple(place, field).map(
    ([at, value]): Edit =>
      (list) => {
        const found = list[at % Math.max(1, list.length)];
        if (typeof found === "object" && found !== null && !Array.isArray(found)) (found as Message)["content"] = value;
      },
  ),
  place.map(
    (at): Edit =>
      (list) => {
        const found = list[at % Math.max(1, list.length)];
        if (typeof found === "object" && found !== null) delete (found as Message)["id"];
      },
  ),
);

describe("a long list, changed in place again and again", () => {
  test("a long list that is changed in place again and again is encoded as if nothing were remembered of it", () => {
    fc.assert(
      fc.property(
        fc.array(element, { minLength: 14, maxLength: 30 }),
        fc.array(edit, { maxLength: 8 }),
        (list, edits) => {
          let { tree } = codec.encode({ list }, "state");
          for (const change of edits) {
            change(list);
            // Twice: what the first one remembers is what the second one uses.
            for (const _ of [1, 2]) {
              const { tree: next } = codec.encode({ list }, "state", tree);
              expect(JSON.stringify(next)).toBe(JSON.stringify(codec.encode({ list }, "state").tree));
              tree = next;
            }
            expect(codec.encode({ list }, "state", tree).tree).toBe(tree);
          }
        },
      ),
      { numRuns: 500, endOnFailure: true },
    );
  });

  test("a long list is seen to differ from a tree that was itself changed in place", () => {
    fc.assert(
      fc.property(
        fc.array(element, { minLength: 14, maxLength: 30 }),
        fc.array(edit, { maxLength: 8 }),
        (list, edits) => {
          const copies = new OwnedCopies();
          let { tree } = codec.encode({ list }, "state");
          for (const change of edits) {
            const before = JSON.stringify(tree);
            const old = codec.decode(tree);
            codec.encode(old, "state", tree);
            change(list);
            const next = codec.encode({ list }, "state").tree;
            tree = copies.apply(tree, structuredClone(diff(tree, next) ?? {}));
            expect(JSON.stringify(tree)).toBe(JSON.stringify(next));
            expect(JSON.stringify(codec.encode(old, "state", tree).tree)).toBe(before);
          }
        },
      ),
      { numRuns: 500, endOnFailure: true },
    );
  });
});

test("an element that is changed in place, of a tree that owns it, is not taken for what it was", () => {
  const texts = (third: string): Message[] =>
    Array.from({ length: 20 }, (_, index) => ({
      id: `m${index}`,
      body: "b".repeat(50),
      third: index === 3 ? third : "",
    }));
  const copies = new OwnedCopies();
  let { tree } = codec.encode(texts("one"), "state");
  for (const third of ["two", "three", "four"]) {
    const change = diff(tree, codec.encode(texts(third), "state").tree);
    expect(change?.e, "the element itself is edited").toHaveLength(1);
    const before = codec.decode(tree);
    expect(codec.encode(before, "state", tree).tree).toBe(tree);
    tree = copies.apply(tree, change ?? {});
    expect(JSON.stringify(codec.encode(before, "state", tree).tree)).toBe(JSON.stringify(before));
    expect(codec.encode(texts(third), "state", tree).tree).toBe(tree);
  }
});

describe("an object in a long list", () => {
  const messages = (): Message[] => Array.from({ length: 40 }, (_, index) => ({ id: `m${index}`, n: index }));
  const remembered = (): Json => {
    const { tree } = codec.encode(messages(), "state");
    codec.encode(messages(), "state", tree);
    return tree;
  };

  test("an object in a long list with another prototype is refused, though its fields are the same", () => {
    class Other {
      id = "m3";
      n = 3;
    }
    expect(() => codec.encode(messages().with(3, new Other() as never), "state", remembered())).toThrow("state[3]");
  });

  test("an object in a long list with the same values under other names, or in another order, is another", () => {
    for (const other of [{ n: 3, id: "m3" }, { id: "m3", m: 3 }, { n: "m3", id: 3 }, { id: "m3" }]) {
      const changed = messages().with(3, other);
      expect(JSON.stringify(codec.encode(changed, "state", remembered()).tree)).toBe(JSON.stringify(changed));
    }
  });

  test("an object in a long list that cannot be stored is refused with its path", () => {
    const list = messages().with(7, { id: "m7", n: () => 1 });
    expect(() => codec.encode({ list }, "state", { list: remembered() })).toThrow("state.list[7].n");
    const nested = messages().with(7, { id: "m7", n: new Map([["a", Symbol("b")]]) });
    expect(() => codec.encode({ list: nested }, "state", { list: remembered() })).toThrow("state.list[7].n");
  });

  test("an object in a long list that became a hole or got a neighbour by name is refused", () => {
    const holed = messages();
    delete holed[5];
    expect(() => codec.encode(holed, "state", remembered())).toThrow("a hole");
    const named = Object.assign([...messages(), { id: "m40", n: 40 }], { extra: 1 });
    expect(() => codec.encode(named, "state", remembered())).toThrow("extra");
  });

  test("among very many: neither a hole, nor a name, nor one of each goes unseen", () => {
    const many = (): unknown[] => Array.from({ length: 1_000 }, (_, index) => (index % 3 === 0 ? undefined : index));
    const [holed, named, both] = [many(), Object.assign(many(), { extra: 1 }), Object.assign(many(), { extra: 1 })];
    delete holed[999];
    delete both[5];
    expect(() => codec.encode(holed, "state")).toThrow("state[999]: a hole");
    expect(() => codec.encode(named, "state")).toThrow("state.extra");
    expect(() => codec.encode(both, "state")).toThrow("state[5]: a hole");
    expect(codec.decode(codec.encode(many(), "state").tree)).toEqual(many());
  });
});
