import assert from "node:assert/strict";
import type { Backend, Capabilities, Found, Key, Listed, Read, Table, Value } from "../../backend.ts";

/** A single requirement on every backend. Plain data, so that any test runner can run it. */
export interface BackendCase {
  readonly name: string;
  /** The case is for backends that declare this capability. */
  readonly requires?: keyof Capabilities;
  /**
   * Resolves if the backend meets the requirement, and rejects with an AssertionError if not. `open` opens a store of
   * the case's own, empty at first; called again, it opens that store once more.
   */
  run(open: OpenBackend): Promise<void>;
}

/** Opens the backend of a case. */
export type OpenBackend = () => Promise<Backend>;

/** Makes a case that needs a single open backend. */
export function backendCase(name: string, run: (backend: Backend) => Promise<void>): BackendCase {
  return { name, run: (open) => using(open, run) };
}

/** Opens a backend, runs the case, and closes the backend in any event. */
export async function using(open: OpenBackend, run: (backend: Backend) => Promise<void>): Promise<void> {
  const backend = await open();
  try {
    await run(backend);
  } finally {
    await backend.close();
  }
}

/** Returns the bound of the numbers of tapes and lineages that a backend declares. */
export function tapesOf({ capabilities }: Backend): number {
  return capabilities.tapes ?? 2 ** 31;
}

/** Returns a key whose group is alone in its lineage. */
export function at(table: Table, group: number, item: number, part = 0): Key {
  return { table, lineage: group, group, item, part };
}

export function thread(id: string): { readonly table: "directory"; readonly id: string } {
  return { table: "directory", id };
}

/** Returns a value as the engine writes it: ten characters of envelope, then JSON. */
export function text(content: unknown): string {
  return `t1........${JSON.stringify(content)}`;
}

/** Puts the values unconditionally, in a batch for each lineage and each thread. */
export async function fill(
  backend: Backend,
  entries: readonly (readonly [Key | ReturnType<typeof thread>, Value])[],
): Promise<void> {
  const puts = new Map<string | number, { readonly key: Key | ReturnType<typeof thread>; readonly value: Value }[]>();
  for (const [key, value] of entries) {
    const place = key.table === "directory" ? key.id : key.lineage;
    puts.set(place, [...(puts.get(place) ?? []), { key, value }]);
  }
  const batches = [...puts.values()].map((list) => ({ puts: list }));
  assert.deepEqual(
    await backend.commit(batches),
    batches.map(() => true),
  );
}

/** Reads the values of some keys, from one snapshot. Bytes become a plain Uint8Array, so that they compare. */
export async function values(
  backend: Backend,
  ...keys: readonly (Key | ReturnType<typeof thread>)[]
): Promise<readonly (Value | undefined)[]> {
  const answers = await backend.read(keys.map((get) => ({ get })));
  return (answers as readonly (Value | undefined)[]).map(plain);
}

export async function found(backend: Backend, read: Read & { readonly scan: unknown }): Promise<readonly Found[]> {
  const [answer] = await backend.read([read]);
  return (answer as readonly Found[]).map(({ item, part, value }) => ({ item, part, value: plain(value) as Value }));
}

export async function listed(
  backend: Backend,
  list: { readonly prefix?: string; readonly after?: string; readonly limit: number },
): Promise<readonly string[]> {
  const [answer] = await backend.read([{ list }]);
  return (answer as readonly Listed[]).map(({ id }) => id);
}

function plain(value: Value | undefined): Value | undefined {
  return value instanceof Uint8Array ? Uint8Array.from(value) : value;
}
