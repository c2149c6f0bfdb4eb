import type { Json } from "../../../codec/json.ts";
import { type Column, packColumn, unpackColumn } from "./column.ts";
import { malformed } from "./rows.ts";

/**
 * The single steps of a chain are much alike: the same keys around other values. A list of such trees is stored as its
 * shapes, each with one example and, for those of its leaves that differ from tree to tree, a column of values:
 *
 * `{ "count": 3, "shapes": [{ "like": tree, "leaves": [[place, column], …] }], "order": column }`
 *
 * A leaf is a string, a number, a boolean or null; its place is its number in the tree, read from left to right. In the
 * example a leaf that has a column is 0. `order` tells the shape of each tree; it is absent when there is one shape. Lists of trees that have little in common are
 * stored as they are.
 */
export type PackedTrees = readonly Json[] | PackedShapes;

interface PackedShapes {
  readonly count: number;
  readonly shapes: readonly {
    readonly like: Json;
    readonly leaves?: readonly (readonly [place: number, values: Column])[];
  }[];
  readonly order?: Column;
}

/** A tree without its leaves. */
type Skeleton = undefined | { readonly keys: readonly string[] | undefined; readonly parts: readonly Skeleton[] };

interface Shape {
  readonly like: Json;
  readonly skeleton: Skeleton;
  /** The leaves of each tree of this shape, from left to right. */
  readonly leaves: (readonly Json[])[];
}

/** With more shapes than this, looking through them for every tree costs more than it saves. */
const MOST_SHAPES = 12;

export function packTrees(trees: readonly Json[]): PackedTrees {
  const shapes: Shape[] = [];
  const order: number[] = [];
  for (const tree of trees) {
    let leaves: Json[] = [];
    let number = shapes.findIndex(({ skeleton }) => {
      leaves = [];
      return takeLeaves(tree, skeleton, leaves);
    });
    if (number < 0) {
      number = shapes.length;
      if (number === MOST_SHAPES) return trees;
      leaves = [];
      shapes.push({ like: tree, skeleton: skeletonOf(tree, leaves), leaves: [] });
    }
    (shapes[number] as Shape).leaves.push(leaves);
    order.push(number);
  }
  if (shapes.length > trees.length / 2) return trees;
  const ordered = packColumn(order, 0);
  return {
    count: trees.length,
    shapes: shapes.map((shape) => {
      const leaves = packLeaves(shape);
      if (leaves.length === 0) return { like: shape.like };
      return { like: withoutLeaves(shape.like, new Set(leaves.map(([place]) => place))), leaves };
    }),
    ...(ordered !== undefined && { order: ordered }),
  };
}

/** Returns the trees, each with nodes of its own. Throws CORRUPT for malformed input. */
export function unpackTrees(packed: PackedTrees): readonly Json[] {
  if (Array.isArray(packed)) return packed;
  const { count, shapes, order } = (packed ?? {}) as PackedShapes;
  if (!Array.isArray(shapes)) throw malformed();
  const numbers = unpackColumn(order, count, 0);
  if (numbers.length !== count) throw malformed();
  const members = shapes.map(() => 0);
  for (const number of numbers) {
    if (members[number as number] === undefined) throw malformed();
    members[number as number] = (members[number as number] as number) + 1;
  }
  const makers = shapes.map((shape, index) => makerOf(shape, members[index] as number));
  return numbers.map((number) => (makers[number as number] as () => Json)());
}

/** Returns the skeleton of a tree, and collects its leaves. */
function skeletonOf(tree: Json, leaves: Json[]): Skeleton {
  if (typeof tree !== "object" || tree === null) {
    leaves.push(tree);
    return undefined;
  }
  if (Array.isArray(tree)) return { keys: undefined, parts: tree.map((part) => skeletonOf(part, leaves)) };
  const keys = Object.keys(tree);
  return { keys, parts: keys.map((key) => skeletonOf(tree[key] as Json, leaves)) };
}

/** Collects the leaves of a tree; returns false if it has another skeleton. */
function takeLeaves(tree: Json, skeleton: Skeleton, leaves: Json[]): boolean {
  if (typeof tree !== "object" || tree === null) {
    leaves.push(tree);
    return skeleton === undefined;
  }
  if (skeleton === undefined) return false;
  const { keys, parts } = skeleton;
  if (Array.isArray(tree)) {
    if (keys !== undefined || tree.length !== parts.length) return false;
    for (let index = 0; index < parts.length; index += 1) {
      if (!takeLeaves(tree[index] as Json, parts[index], leaves)) return false;
    }
    return true;
  }
  if (keys === undefined) return false;
  let index = 0;
  for (const key in tree) {
    if (key !== keys[index] || !takeLeaves(tree[key] as Json, parts[index], leaves)) return false;
    index += 1;
  }
  return index === keys.length;
}

/** Strings longer than this are not searched for common values. */
const SHORT_TEXT = 64;

function packLeaves({ leaves }: Shape): (readonly [number, Column])[] {
  const columns: (readonly [number, Column])[] = [];
  const [first = []] = leaves;
  for (const [place, leaf] of first.entries()) {
    if (leaves.every((one) => one[place] === leaf)) continue;
    const values = leaves.map((one) => one[place] as Json);
    const long = values.some((value) => typeof value === "string" && value.length > SHORT_TEXT);
    columns.push([place, long ? values : (packColumn(values, null) as Column)]);
  }
  return columns;
}

/** Returns a copy of a tree with 0 in these places. */
function withoutLeaves(tree: Json, places: ReadonlySet<number>): Json {
  let place = -1;
  const empty = (node: Json): Json => {
    if (typeof node !== "object" || node === null) {
      place += 1;
      return places.has(place) ? 0 : node;
    }
    if (Array.isArray(node)) return node.map(empty);
    const copy = { ...node };
    for (const key of Object.keys(copy)) copy[key] = empty(node[key] as Json);
    return copy;
  };
  return empty(tree);
}

/** Returns a function that makes one tree of a shape after the other. */
function makerOf({ like, leaves = [] }: PackedShapes["shapes"][number], count: number): () => Json {
  const columns = new Map<number, readonly Json[]>();
  if (like === undefined || !Array.isArray(leaves)) throw malformed();
  for (const leaf of leaves) {
    const values = Array.isArray(leaf) ? unpackColumn(leaf[1] as Column, count, null) : undefined;
    if (values?.length !== count) throw malformed();
    columns.set(leaf[0] as number, values);
  }
  let made = 0;
  return () => {
    let place = 0;
    const make = (node: Json): Json => {
      if (typeof node !== "object" || node === null) {
        const values = columns.get(place);
        place += 1;
        return values ? (values[made] as Json) : node;
      }
      if (Array.isArray(node)) return node.map(make);
      const copy = { ...node };
      for (const key of Object.keys(copy)) copy[key] = make(node[key] as Json);
      return copy;
    };
    const tree = make(like);
    made += 1;
    return tree;
  };
}
