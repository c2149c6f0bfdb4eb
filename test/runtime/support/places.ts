import { afterEach, describe } from "vitest";
import type { OpenOptions } from "../../../src/index.ts";
import { open, type Store } from "../../../src/index.ts";
import { folderForEach } from "../../support/folders-of-tests.ts";
import { type Medium, mediumOf } from "./medium.ts";

/** Makes stores on one kind of backend for a test; they are closed after it. */
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
    const inFolder = folderForEach();
    const stores: Store<unknown>[] = [];
    afterEach(async () => {
      for (const store of stores.splice(0)) await store.close();
    });
    let opened = 0;
    const fresh: Places["fresh"] = async (options) => {
      const medium = await mediumOf(kind, inFolder(`store-${opened++}.db`));
      const store = await open(medium, { ...options });
      stores.push(store);
      return { store, medium };
    };
    tests({ kind, fresh, store: async (options) => (await fresh(options)).store });
  });
}
