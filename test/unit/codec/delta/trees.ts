import fc from "fast-check";
import type { Json } from "../../../../src/codec/json.ts";

/** Keys that collide often, that JavaScript orders by itself, and that a careless assignment would trip over. */
const keys = ["a", "b", "c", "0", "1", "10", "01", "4294967295", "-1", "", "é", "__proto__", "constructor", "toString"];

const texts = fc.oneof(
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.constantFrom("", "x", "😀", "\ud83d", "\ude00", "null"),
  fc.string({ unit: "grapheme", minLength: 40, maxLength: 120 }),
  fc
    .array(fc.constantFrom("one\n", "two\n", "😀 three\n", "a longer line of text\n"), { maxLength: 40 })
    .map((lines) => lines.join("")),
);

const leaves: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom(null, true, false),
  fc.integer({ min: -3, max: 1_000 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (Object.is(value, -0) ? 0 : value)),
  texts,
);

/** Builds an object entry by entry, so that `__proto__` becomes a key like any other. */
function objectOf(entries: readonly (readonly [string, Json])[]): { [key: string]: Json } {
  return Object.fromEntries(entries);
}

/** Any JSON tree, small but nasty. */
export const trees: fc.Arbitrary<Json> = fc.letrec<{ tree: Json }>((tie) => ({
  tree: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    leaves,
    fc.array(tie("tree"), { maxLength: 6 }),
    fc
      .array(fc.tuple(fc.constantFrom(...keys), tie("tree")), { maxLength: 6 })
      .map((entries) => objectOf(entries as [string, Json][])),
  ),
})).tree;

const ballast = "A paragraph that stays as it is, so that an edit beside it is worth a delta. ".repeat(5);

/** Trees like an agent's state: large enough that a change of them is not a replacement. */
const states: fc.Arbitrary<Json> = fc
  .tuple(
    fc.array(trees, { maxLength: 8 }),
    fc.array(fc.tuple(fc.constantFrom(...keys), trees), { maxLength: 5 }),
    texts,
  )
  .map(([list, fields, text]) => ({
    list: [ballast, ...list],
    fields: objectOf([["ballast", ballast], ...fields]),
    text: ballast + text,
    records: list.map((value, index) => ({ index, ballast, value })),
  }));

/** Decisions drawn by fast-check, so that a failing edit shrinks. */
class Choices {
  readonly #numbers: readonly number[];
  readonly #values: readonly Json[];
  #next = 0;

  constructor(numbers: readonly number[], values: readonly Json[]) {
    this.#numbers = numbers;
    this.#values = values;
  }

  below(limit: number): number {
    return (this.#numbers[this.#next++ % Math.max(1, this.#numbers.length)] ?? 0) % limit;
  }

  value(): Json {
    return this.#values[this.below(Math.max(1, this.#values.length))] ?? null;
  }
}

/** An edited copy of the tree: new along the path of the edit, shared elsewhere. */
function edited(tree: Json, choices: Choices): Json {
  if (choices.below(30) === 7) return choices.value();
  if (typeof tree === "string") return editedText(tree, choices);
  if (Array.isArray(tree)) return editedArray(tree, choices);
  if (typeof tree === "object" && tree !== null) return editedObject(tree, choices);
  return choices.value();
}

function editedText(text: string, choices: Choices): string {
  const start = choices.below(text.length + 1);
  const put = ["", "more 😀", "\ude00", "a sentence. ", "x\ny\n"][choices.below(5)] as string;
  if (choices.below(2) === 0) return text + put;
  return text.slice(0, start) + put + text.slice(start + choices.below(5));
}

function editedArray(array: Json[], choices: Choices): Json[] {
  const at = choices.below(array.length + 1);
  switch (choices.below(6)) {
    case 0:
      return [...array, choices.value()];
    case 1:
      return [...array.slice(1), choices.value()];
    case 2:
      return array.toSpliced(at, choices.below(3), choices.value());
    case 3:
      return array.toSpliced(at, 1 + choices.below(3));
    case 4:
      return array.toReversed();
    default:
      return at < array.length ? array.with(at, edited(array[at] as Json, choices)) : [choices.value(), ...array];
  }
}

function editedObject(object: { [key: string]: Json }, choices: Choices): { [key: string]: Json } {
  const entries = Object.entries(object);
  const at = choices.below(entries.length + 1);
  const entry = entries[at];
  switch (choices.below(6)) {
    case 0:
      return objectOf([...entries, [keys[choices.below(keys.length)] as string, choices.value()]]);
    case 1:
      return objectOf(entries.toSpliced(at, 1));
    case 2:
      return entry === undefined ? object : objectOf([...entries.toSpliced(at, 1), entry]);
    case 3:
      return objectOf(entries.toReversed());
    default:
      return entry === undefined
        ? objectOf([...entries, [keys[choices.below(keys.length)] as string, choices.value()]])
        : objectOf(entries.with(at, [entry[0], edited(entry[1], choices)]));
  }
}

/** A tree and its further versions: each a few edits on from the last, now and then unrelated to it. */
export function histories(minimum: number, maximum: number): fc.Arbitrary<Json[]> {
  const steps = fc.array(
    fc.oneof(
      { weight: 8, arbitrary: fc.array(fc.nat(10_000), { minLength: 1, maxLength: 30 }) },
      { weight: 1, arbitrary: trees.map((tree) => ({ tree })) },
    ),
    { minLength: minimum - 1, maxLength: maximum - 1 },
  );
  return fc
    .tuple(fc.oneof(trees, states, states), fc.array(trees, { minLength: 1, maxLength: 5 }), steps)
    .map(([first, values, edits]) => {
      const versions = [first];
      for (const edit of edits) {
        if (!Array.isArray(edit)) {
          versions.push(edit.tree);
          continue;
        }
        const choices = new Choices(edit, values);
        let tree = versions.at(-1) as Json;
        for (let count = 0; count <= choices.below(3); count++) tree = edited(tree, choices);
        versions.push(tree);
      }
      return versions;
    });
}

/** A copy that shares no node. */
export function copyOf<Tree>(tree: Tree): Tree {
  return JSON.parse(JSON.stringify(tree)) as Tree;
}

/** The tree as text: two trees are equal, key order included, when their texts are. */
export function textOf(tree: unknown): string {
  return JSON.stringify(tree);
}

export function freeze<Tree>(tree: Tree): Tree {
  if (typeof tree === "object" && tree !== null && !Object.isFrozen(tree)) {
    Object.freeze(tree);
    for (const value of Object.values(tree)) freeze(value);
  }
  return tree;
}
