import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect } from "vitest";
import type { Backend, Value } from "../../../../src/backend.ts";
import { tail } from "./keys.ts";

/** A new directory for each test of a file; the function gives paths inside it. */
export function freshDirectory(): (...names: string[]) => string {
  let directory = "";
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "threadmark-sqlite-"));
    // Some tests go on as another user.
    chmodSync(directory, 0o755);
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));
  return (...names) => join(directory, ...names);
}

export { tail };

export async function put(backend: Backend, item: number, value: Value): Promise<void> {
  expect(await backend.commit([{ puts: [{ key: tail(item), value }] }])).toEqual([true]);
}

export async function get(backend: Backend, item: number): Promise<unknown> {
  const [value] = await backend.read([{ get: tail(item) }]);
  return value;
}
