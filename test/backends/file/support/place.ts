import type { Backend, Key, Value } from "../../../../src/backend.ts";

export function tail(item: number, lineage = 1): Key {
  return { table: "tail", lineage, group: lineage, item, part: 0 };
}

export function text(content: unknown): string {
  return `1j00000000${JSON.stringify(content)}`;
}

export async function put(backend: Backend, item: number, value: Value, lineage = 1): Promise<void> {
  await backend.commit([{ puts: [{ key: tail(item, lineage), value }] }]);
}

export async function get(backend: Backend, item: number, lineage = 1): Promise<Value | undefined> {
  const [value] = await backend.read([{ get: tail(item, lineage) }]);
  return value as Value | undefined;
}
