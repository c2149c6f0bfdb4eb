import type { Table } from "../../backend.ts";

/** The greatest `part` of a key, and the greatest `item` of most. */
export const lastInteger = 0xffff_ffff;

/** Returns the greatest item of a table's keys. That of a `meta` record is the number of a tape. */
export function lastItem(table: Table): number {
  return table === "meta" ? 2 ** 40 - 1 : lastInteger;
}

const lastCodePoint = 0x10_ffff;

/** Returns the least string above every string that starts with `prefix`; undefined when there is none. */
export function afterPrefix(prefix: string): string | undefined {
  const points = Array.from(prefix, (character) => character.codePointAt(0) as number);
  for (let point = points.pop(); point !== undefined; point = points.pop()) {
    if (point === lastCodePoint) continue;
    // Surrogates are no code points: U+E000 follows U+D7FF.
    return String.fromCodePoint(...points, point === 0xd7ff ? 0xe000 : point + 1);
  }
  return undefined;
}
