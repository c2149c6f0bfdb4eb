import type { Json } from "../codec/json.ts";

/**
 * One field of the rows of a pack. Fields that never change, change by a constant, or take few values are stored so:
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
  if (values.every((value) => same(value, first))) return same(first, fallback) ? undefined : { c: first };
  if (values.every((value) => Number.isSafeInteger(value))) return packIntegers(values as readonly number[]);
  const keys = values.map((value) => JSON.stringify(value));
  const distinct = [...new Set(keys)];
  if (distinct.length <= values.length / 2) {
    const places = new Map(distinct.map((key, index) => [key, index]));
    return { d: distinct.map((key) => JSON.parse(key) as Json), x: keys.map((key) => places.get(key) as number) };
  }
  return [...values];
}

function packIntegers(values: readonly number[]): Column {
  const differences = values.map((value, index) => (index === 0 ? value : value - (values[index - 1] as number)));
  const stride = differences[1] as number;
  if (differences.every((difference, index) => index === 0 || difference === stride))
    return { a: [values[0] as number, stride] };
  // Differences of far apart integers may not be exact; such columns are kept as they are.
  return differences.every(Number.isSafeInteger) ? { n: differences } : [...values];
}

/** More rows than a pack ever has: a count beyond is damage, and must not be believed. */
const MOST_ROWS = 2 ** 16;

/** The `count` values of a column. Anything malformed yields a wrong length or type, which the caller checks. */
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
