import assert from "node:assert/strict";
import type { Backend, Key, Value } from "../../../src/backend.ts";

/** Returns the key of a record in the tail of tape `tape`, the first of its lineage. */
export function tail(item: number, tape = 1): Key {
  return { table: "tail", lineage: tape, group: tape, item, part: 0 };
}

export async function put(backend: Backend, item: number, value: Value, tape = 1): Promise<void> {
  assert.deepEqual(await backend.commit([{ puts: [{ key: tail(item, tape), value }] }]), [true]);
}

export async function get(backend: Backend, item: number, tape = 1): Promise<Value | undefined> {
  const [value] = await backend.read([{ get: tail(item, tape) }]);
  return value as Value | undefined;
}
