import fc from "fast-check";
import type { Patch } from "../../src/model/patch.ts";
import { richValues } from "../../src/testing/support/values.ts";
import { clone } from "./clone.ts";
import { patchesFor, type RawPatch, rawPatchesOf } from "./patches.ts";

export type Free = Record<string, unknown>;

/** Keys are few, so that changes meet each other. */
const lists = ["list", "log"] as const;
const keys = ["list", "log", "text", "files", "n", "bag"] as const;

/** How one state becomes the next: small changes as agents make them, and now and then something else altogether. */
export type Change =
  | { readonly kind: "append"; readonly key: string; readonly items: readonly unknown[] }
  | {
      readonly kind: "splice";
      readonly key: string;
      readonly at: number;
      readonly remove: number;
      readonly items: readonly unknown[];
    }
  | {
      readonly kind: "element";
      readonly key: string;
      readonly at: number;
      readonly field: string;
      readonly value: unknown;
    }
  | { readonly kind: "text"; readonly at: number; readonly remove: number; readonly insert: string }
  | { readonly kind: "file"; readonly name: string; readonly text: string }
  | { readonly kind: "set"; readonly key: string; readonly value: unknown }
  | { readonly kind: "unset"; readonly key: string }
  | { readonly kind: "reorder" }
  | { readonly kind: "whole"; readonly value: unknown };

const richNames = Object.keys(richValues());
const rich: fc.Arbitrary<unknown> = fc.constantFrom(...richNames).map((name) => richValues()[name]);
const leaf: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: -5, max: 5 }) },
  { weight: 3, arbitrary: fc.string({ maxLength: 8, unit: "binary" }) },
  { weight: 1, arbitrary: fc.constant("long ".repeat(60)) },
  { weight: 2, arbitrary: rich },
);
export const value: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: leaf },
  {
    weight: 2,
    arbitrary: fc.dictionary(fc.constantFrom("a", "b", "c", "__proto__", ""), leaf, {
      maxKeys: 3,
      noNullPrototype: true,
    }),
  },
  { weight: 1, arbitrary: fc.array(leaf, { maxLength: 3 }) },
  { weight: 1, arbitrary: fc.array(fc.tuple(leaf, leaf), { maxLength: 3 }).map((entries) => new Map(entries)) },
);

const items = fc.array(value, { maxLength: 3 });
const place = fc.nat({ max: 200 });
const someText = fc.oneof(fc.string({ maxLength: 6 }), fc.constantFrom("\ud83d", "\ude00", "\u{1f600}", ""));

const change: fc.Arbitrary<Change> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("append" as const), key: fc.constantFrom(...lists), items }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("splice" as const),
      key: fc.constantFrom(...lists),
      at: place,
      remove: fc.nat({ max: 4 }),
      items,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("element" as const),
      key: fc.constantFrom(...lists),
      at: place,
      field: fc.constantFrom("a", "b", "state"),
      value,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("text" as const),
      at: place,
      remove: fc.nat({ max: 9 }),
      insert: someText,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("file" as const),
      name: fc.constantFrom("f1", "f2", "f3"),
      text: fc.constantFrom("one\n".repeat(30), "two\n".repeat(30), "", "one\n".repeat(29)),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("set" as const), key: fc.constantFrom(...keys), value }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("unset" as const), key: fc.constantFrom(...keys) }) },
  { weight: 1, arbitrary: fc.constant({ kind: "reorder" as const }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("whole" as const), value }) },
);
export const changes: fc.Arbitrary<readonly Change[]> = fc.array(change, { maxLength: 4 });

/** The state after the changes, as a tree that shares nothing with the one before. */
export function changed(before: unknown, all: readonly Change[]): unknown {
  return all.reduce<unknown>((state, one) => applied(state, one), clone(before));
}

function applied(state: unknown, one: Change): unknown {
  if (one.kind === "whole") return clone(one.value);
  const tree: Free = isRecord(state) ? state : { n: 0 };
  switch (one.kind) {
    case "append":
      return withKey(tree, one.key, [...listAt(tree, one.key), ...clone(one.items)]);
    case "splice":
      return withKey(tree, one.key, listAt(tree, one.key).toSpliced(one.at, one.remove, ...clone(one.items)));
    case "element": {
      const list = listAt(tree, one.key);
      const at = list.length === 0 ? 0 : one.at % list.length;
      const old = list[at];
      return withKey(
        tree,
        one.key,
        list.toSpliced(at, 1, withKey(isRecord(old) ? old : {}, one.field, clone(one.value))),
      );
    }
    case "text": {
      const text =
        typeof tree.text === "string" ? tree.text : "some text to begin with, long enough to be worth a splice";
      return withKey(tree, "text", text.slice(0, one.at) + one.insert + text.slice(one.at + one.remove));
    }
    case "file":
      return withKey(tree, "files", withKey(isRecord(tree.files) ? tree.files : {}, one.name, one.text));
    case "set":
      return withKey(tree, one.key, clone(one.value));
    case "unset":
      return Object.fromEntries(Object.entries(tree).filter(([key]) => key !== one.key));
    case "reorder":
      return Object.fromEntries(Object.entries(tree).reverse());
  }
}

function listAt(tree: Free, key: string): readonly unknown[] {
  return Array.isArray(tree[key]) ? tree[key] : [];
}

function isRecord(candidate: unknown): candidate is Free {
  return typeof candidate === "object" && candidate !== null && Object.getPrototypeOf(candidate) === Object.prototype;
}

/** The object with one key set; fromEntries and spread keep `__proto__` an ordinary key. */
function withKey(tree: Free, key: string, one: unknown): Free {
  return { ...tree, [key]: one };
}

const rawPatches = rawPatchesOf(value, keys);

/** Raw material for an update; what does not fit the state it meets is left out by {@link fitting}. */
export interface RawUpdate {
  readonly append: readonly { readonly key: string; readonly items: readonly unknown[]; readonly text: string }[];
  readonly set: readonly { readonly key: string; readonly value: unknown }[];
  readonly unset: readonly string[];
  readonly patch: readonly RawPatch[];
  /** Keep what does not fit, so that the update is refused. */
  readonly careless: boolean;
}

export const rawUpdate: fc.Arbitrary<RawUpdate> = fc.record({
  append: fc.array(fc.record({ key: fc.constantFrom(...keys), items, text: someText }), { maxLength: 2 }),
  set: fc.array(fc.record({ key: fc.constantFrom(...keys, "__proto__"), value }), { maxLength: 2 }),
  unset: fc.array(fc.constantFrom(...keys, "missing"), { maxLength: 1 }),
  patch: fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: rawPatches }),
  careless: fc.nat({ max: 14 }).map((n) => n === 0),
});

/** An update that the state takes, as far as the raw material allows. */
export function fitting(
  state: unknown,
  raw: RawUpdate,
): { append: Free; set: Free; unset: string[]; patch: readonly Patch<Free>[] } {
  const append: Free = {};
  for (const { key, items: list, text } of raw.append) {
    const old = isRecord(state) && Object.hasOwn(state, key) ? state[key] : undefined;
    if (Array.isArray(old)) append[key] = clone(list);
    else if (typeof old === "string") append[key] = text;
    else if (raw.careless) append[key] = clone(list);
  }
  const set = Object.fromEntries(
    raw.set
      .filter(({ key }) => raw.careless || !Object.hasOwn(append, key))
      .map(({ key, value: one }) => [key, clone(one)]),
  );
  const unset = raw.unset.filter((key) => raw.careless || (!Object.hasOwn(append, key) && !Object.hasOwn(set, key)));
  const taken = (key: string): boolean => Object.hasOwn(append, key) || Object.hasOwn(set, key) || unset.includes(key);
  const patch = patchesFor(state, raw.patch, raw.careless).filter(([[key]]) => raw.careless || !taken(key as string));
  return { append, set, unset, patch };
}
