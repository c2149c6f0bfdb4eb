import type { Key } from "../../../../src/backend.ts";

export function tail(item: number, group = 1): Key {
  return { table: "tail", lineage: group, group, item, part: 0 };
}
