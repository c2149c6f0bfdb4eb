import type { Json } from "../../../codec/json.ts";

/**
 * A field of all rows of a pack. Fields that never change, change by a constant, or take few values are stored so:
 *
 * | shape | meaning |
 * | --- | --- |
 * | absent | every value is the default |
 * | `{ "c": value }` | every value is the same |
 * | `{ "a": [first, stride] }` | an arithmetic sequence |
 * | `{ "n": [first, difference, …] }` | integers, by their differences |
 * | `{ "d": [values], "x": [indexes] }` | few distinct values |
 * | `[values]` | as they are |
 */
export type Column = Json;

function same(left: Json, right: Json): boolean {
  return (
    left === right ||
    (typeof left === "object" && typeof right === "object" && JSON.stringify(left) === JSON.stringify(right))
  );
}

export function packColumn(values: readonly Json[], fallback: Json): Column | undefined {
  const first = values[0] as Json;
  let alike = 1;
  while (alike < values.length && same(values[alike] as Json, first)) alike += 1;
  if (alike >= values.length) return same(first, fallback) ? undefined : { c: first };
  if (values.every(Number.isSafeInteger)) return packIntegers(values as readonly number[]);
  const strings = values.every((value) => typeof value === "string");
  return packDistinct(strings ? (values as readonly string[]) : values.map((value) => JSON.stringify(value)), values);
}

/** Packs values of which few are distinct; two values are equal if their `keys` are. */
function packDistinct(keys: readonly string[], values: readonly Json[]): Column {
  const places = new Map<string, number>();
  const distinct: Json[] = [];
  const indexes: number[] = [];
  for (const [index, key] of keys.entries()) {
    let place = places.get(key);
    if (place === undefined) {
      place = distinct.length;
      if (place + 1 > values.length / 2) return [...values];
      places.set(key, place);
      distinct.push(values[index] as Json);
    }
    indexes.push(place);
  }
  return { d: distinct, x: indexes };
}

function packIntegers(values: readonly number[]): Column {
  const differences: number[] = [values[0] as number];
  const stride = (values[1] as number) - (values[0] as number);
  let steady = true;
  let exact = true;
  for (let index = 1; index < values.length; index += 1) {
    const difference = (values[index] as number) - (values[index - 1] as number);
    steady &&= difference === stride;
    exact &&= Number.isSafeInteger(difference);
    differences.push(difference);
  }
  // A sequence is read as first + index * stride, whose products must be exact, too.
  const reach = (values.at(-1) as number) - (values[0] as number);
  if (steady && exact && Number.isSafeInteger(reach)) return { a: [values[0] as number, stride] };
  // Differences of far apart integers may not be exact; such columns are kept as they are.
  return exact ? { n: differences } : [...values];
}

/** Upper bound on the rows of a pack: a greater count is damage. */
const MOST_ROWS = 2 ** 16;

/**
 * Returns the `count` values of a column. A malformed column yields a wrong length or type, which the caller checks.
 */
export function unpackColumn(column: Column | undefined, count: number, fallback: Json): Json[] {
  if (!(count >= 0 && count <= MOST_ROWS)) return [];
  if (column === undefined) return new Array<Json>(count).fill(fallback);
  if (Array.isArray(column)) return column;
  if (column === null || typeof column !== "object") return [];
  if ("c" in column) return new Array<Json>(count).fill(column["c"] as Json);
  if (Array.isArray(column["a"])) {
    const [start, stride] = column["a"] as [number, number];
    return Array.from({ length: count }, (_, index) => start + index * stride);
  }
  if (Array.isArray(column["n"])) {
    let sum = 0;
    return (column["n"] as number[]).map((difference) => {
      sum += difference;
      return sum;
    });
  }
  const dictionary = column["d"] as Json[] | undefined;
  return ((column["x"] as number[] | undefined) ?? []).map((index) => dictionary?.[index] ?? null);
}
