import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe } from "vitest";
import type { OpenOptions } from "../../../src/index.ts";
import { open, type Store } from "../../../src/index.ts";
import { type Medium, mediumOf } from "./medium.ts";

/** What a test is given: stores on one kind of backend, closed after it. */
export interface Places {
  readonly kind: "memory" | "sqlite";
  /** A store at a fresh place, and the medium under it, which counts commits and fails when told. */
  fresh(options?: OpenOptions): Promise<{ store: Store<unknown>; medium: Medium }>;
  /** A fresh store. */
  store(options?: OpenOptions): Promise<Store<unknown>>;
}

/** Runs the tests on memory and on SQLite. */
export function onMemoryAndSqlite(title: string, tests: (places: Places) => void): void {
  describe.each(["memory", "sqlite"] as const)(`${title}, on %s`, (kind) => {
    const stores: Store<unknown>[] = [];
    const directories: string[] = [];
    afterEach(async () => {
      for (const store of stores.splice(0)) await store.close();
      for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true });
    });
    const fresh: Places["fresh"] = async (options) => {
      const directory = mkdtempSync(join(tmpdir(), "threadmark-runtime-"));
      directories.push(directory);
      const medium = await mediumOf(kind, join(directory, "store.db"));
      const store = await open(medium, { ...options });
      stores.push(store);
      return { store, medium };
    };
    tests({ kind, fresh, store: async (options) => (await fresh(options)).store });
  });
}
