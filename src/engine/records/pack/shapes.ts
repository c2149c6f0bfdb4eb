import type { Json } from "../../../codec/json.ts";
import { type Column, packColumn, unpackColumn } from "./column.ts";
import { malformed } from "./rows.ts";

/**
 * The single steps of a chain are much alike: the same keys around other values. A list of such trees is stored as its
 * shapes, each with one example and, for those of its leaves that differ from tree to tree, a column of values:
 *
 * `{ "count": 3, "shapes": [{ "like": tree, "leaves": [[place, column], …], "names": [[place, column], …] }], "order": column }`
 *
 * A leaf is a string, a number, a boolean or null; its place is its number in the tree, read from left to right. In the
 * example a leaf that has a column is 0. Objects with one key are alike whatever its name, since the name is often a value itself, as the path of
 * the file that a step changes; `names` has those that differ, by the number of the object among all with one key. `order` tells the shape of each tree; it is absent
 * when there is one shape. Lists of trees that have little in common are stored as they are.
 */
export type PackedTrees = readonly Json[] | PackedShapes;

interface PackedShapes {
  readonly count: number;
  readonly shapes: readonly {
    readonly like: Json;
    readonly leaves?: Columns;
    readonly names?: Columns;
  }[];
  readonly order?: Column;
}

type Columns = readonly (readonly [place: number, values: Column])[];

/** A tree without its leaves. `keys`: undefined for a list, `ANY` for an object with one key. */
type Skeleton =
  | undefined
  | { readonly keys: readonly string[] | typeof ANY | undefined; readonly parts: readonly Skeleton[] };

const ANY = "any";

/** The parts in which the trees of a shape may differ, from left to right. */
interface Variables {
  readonly leaves: Json[];
  /** The keys of objects with one key. */
  readonly names: string[];
}

interface Shape {
  readonly like: Json;
  readonly skeleton: Skeleton;
  /** The variables of each tree of this shape. */
  readonly trees: Variables[];
}

/** With more shapes than this, looking through them for every tree costs more than it saves. */
const MOST_SHAPES = 12;

export function packTrees(trees: readonly Json[]): PackedTrees {
  const shapes: Shape[] = [];
  const order: number[] = [];
  for (const tree of trees) {
    let found: Variables = { leaves: [], names: [] };
    let number = shapes.findIndex(({ skeleton }) => {
      found = { leaves: [], names: [] };
      return takeVariables(tree, skeleton, found);
    });
    if (number < 0) {
      number = shapes.length;
      if (number === MOST_SHAPES) return trees;
      found = { leaves: [], names: [] };
      shapes.push({ like: tree, skeleton: skeletonOf(tree, found), trees: [] });
    }
    (shapes[number] as Shape).trees.push(found);
    order.push(number);
  }
  if (shapes.length > trees.length / 2) return trees;
  const ordered = packColumn(order, 0);
  return {
    count: trees.length,
    shapes: shapes.map(({ like, trees: members }) => {
      const leaves = packVariables(members.map((tree) => tree.leaves));
      const names = packVariables(members.map((tree) => tree.names));
      return {
        like: leaves.length === 0 ? like : withoutLeaves(like, new Set(leaves.map(([place]) => place))),
        ...(leaves.length > 0 && { leaves }),
        ...(names.length > 0 && { names }),
      };
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

/** Returns the skeleton of a tree, and collects its variables. */
function skeletonOf(tree: Json, found: Variables): Skeleton {
  if (typeof tree !== "object" || tree === null) {
    found.leaves.push(tree);
    return undefined;
  }
  if (Array.isArray(tree)) return { keys: undefined, parts: tree.map((part) => skeletonOf(part, found)) };
  const keys = Object.keys(tree);
  if (keys.length === 1) found.names.push(keys[0] as string);
  const parts = keys.map((key) => skeletonOf(tree[key] as Json, found));
  return { keys: keys.length === 1 ? ANY : keys, parts };
}

/** Collects the variables of a tree; returns false if it has another skeleton. */
function takeVariables(tree: Json, skeleton: Skeleton, found: Variables): boolean {
  if (typeof tree !== "object" || tree === null) {
    found.leaves.push(tree);
    return skeleton === undefined;
  }
  if (skeleton === undefined) return false;
  const { keys, parts } = skeleton;
  if (Array.isArray(tree)) {
    if (keys !== undefined || tree.length !== parts.length) return false;
    for (let index = 0; index < parts.length; index += 1) {
      if (!takeVariables(tree[index] as Json, parts[index], found)) return false;
    }
    return true;
  }
  if (keys === undefined) return false;
  let index = 0;
  for (const key in tree) {
    if (index === parts.length) return false;
    if (keys === ANY) found.names.push(key);
    else if (key !== keys[index]) return false;
    if (!takeVariables(tree[key] as Json, parts[index], found)) return false;
    index += 1;
  }
  return index === parts.length;
}

/** Strings longer than this are not searched for common values. */
const SHORT_TEXT = 64;

/** Returns a column for each place in which the lists differ. */
function packVariables(lists: readonly (readonly Json[])[]): Columns {
  const columns: (readonly [number, Column])[] = [];
  const [first = []] = lists;
  for (const [place, value] of first.entries()) {
    if (lists.every((one) => one[place] === value)) continue;
    const values = lists.map((one) => one[place] as Json);
    const long = values.some((text) => typeof text === "string" && text.length > SHORT_TEXT);
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
function makerOf({ like, leaves, names }: PackedShapes["shapes"][number], count: number): () => Json {
  if (like === undefined) throw malformed();
  const leafColumns = unpackColumns(leaves, count);
  const nameColumns = unpackColumns(names, count);
  let made = 0;
  return () => {
    let place = 0;
    let named = 0;
    const make = (node: Json): Json => {
      if (typeof node !== "object" || node === null) {
        const values = leafColumns.get(place);
        place += 1;
        return values ? (values[made] as Json) : node;
      }
      if (Array.isArray(node)) return node.map(make);
      const keys = Object.keys(node);
      const [only] = keys;
      if (only !== undefined && keys.length === 1) {
        const name = nameColumns.get(named)?.[made] ?? only;
        named += 1;
        if (typeof name !== "string") throw malformed();
        return { [name]: make(node[only] as Json) };
      }
      const copy = { ...node };
      for (const key of keys) copy[key] = make(node[key] as Json);
      return copy;
    };
    const tree = make(like);
    made += 1;
    return tree;
  };
}

function unpackColumns(columns: Columns | undefined, count: number): ReadonlyMap<number, readonly Json[]> {
  const unpacked = new Map<number, readonly Json[]>();
  if (columns === undefined) return unpacked;
  if (!Array.isArray(columns)) throw malformed();
  for (const column of columns) {
    const values = Array.isArray(column) ? unpackColumn(column[1] as Column, count, null) : undefined;
    if (values?.length !== count) throw malformed();
    unpacked.set(column[0] as number, values);
  }
  return unpacked;
}
