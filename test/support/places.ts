import { join } from "node:path";
import { type AnyOpenOptions, open } from "../../src/api/open.ts";
import type { Backend, Capabilities } from "../../src/backend.ts";
import { memory } from "../../src/backends/memory/index.ts";
import { type Location, oneLineage } from "../../src/testing/index.ts";
import { makePostgres, reusedPostgres } from "./postgres/places.ts";
import { makeRedis, makeRedisCluster } from "./redis/places.ts";
import { sharedBackend } from "./shared-backend.ts";
import { makeFolder, removeFolder } from "./temporary-folder.ts";

/** A fresh, empty place on one backend. */
export interface Place {
  /** The first argument of `open`; each call opens the same place. */
  readonly url: string | Backend;
  readonly options?: AnyOpenOptions;
  /** Two stores may be open on it at once, though two processes may not. */
  readonly shared?: boolean;
  cleanup(): Promise<void>;
}

/** A kind of backend that the tests of the store run on. */
export interface BackendUnderTest {
  readonly name: string;
  readonly capabilities: Capabilities;
  /** How much of a campaign to run here, as a part of what memory gets: every round trip costs more elsewhere. */
  readonly share: number;
  make(): Promise<Place>;
}

/** A store in memory ends with its backend: here one backend outlives the stores opened on it. */
async function makeMemory(): Promise<Place> {
  const backend = memory();
  return { url: sharedBackend(oneLineage(backend)), shared: true, cleanup: () => backend.close() };
}

/** `fsync: "normal"`, since no test here cuts the power: that halves the time of the whole suite. */
async function makeSqlite(): Promise<Place> {
  const directory = makeFolder();
  return {
    url: `sqlite:${join(directory, "store.db")}`,
    options: { fsync: "normal" },
    cleanup: async () => removeFolder(directory),
  };
}

async function makeFile(): Promise<Place> {
  const directory = makeFolder();
  return {
    url: `file:${join(directory, "store")}`,
    options: { fsync: "normal" },
    cleanup: async () => removeFolder(directory),
  };
}

export const memoryUnderTest: BackendUnderTest = {
  name: "memory",
  capabilities: { durable: false, processes: false },
  share: 1,
  make: makeMemory,
};

export const sqliteUnderTest: BackendUnderTest = {
  name: "sqlite",
  capabilities: { durable: true, processes: true },
  share: 0.8,
  make: makeSqlite,
};

export const fileUnderTest: BackendUnderTest = {
  name: "file",
  capabilities: { durable: true, processes: false },
  share: 0.4,
  make: makeFile,
};

export const postgresUnderTest: BackendUnderTest = {
  name: "postgres",
  capabilities: { durable: true, processes: true },
  share: 0.05,
  make: makePostgres,
};

export const redisUnderTest: BackendUnderTest = {
  name: "redis",
  capabilities: { durable: true, processes: true },
  share: 0.1,
  make: makeRedis,
};

export const redisClusterUnderTest: BackendUnderTest = {
  name: "redis cluster",
  capabilities: { durable: true, processes: true },
  share: 0.05,
  make: makeRedisCluster,
};

/** Every backend that the tests of the store run on. */
export const locations: readonly BackendUnderTest[] = [
  memoryUnderTest,
  fileUnderTest,
  sqliteUnderTest,
  postgresUnderTest,
];

/**
 * All backends for hundreds of short-lived places. The Postgres places share tables, so a test must stop writing before
 * its cleanup.
 */
export const campaignLocations: readonly BackendUnderTest[] = locations.map((backend) =>
  backend === postgresUnderTest ? { ...backend, make: reusedPostgres() } : backend,
);

/** A place as the conformance kit wants it. */
export async function kitLocation(backend: BackendUnderTest): Promise<Location> {
  const place = await backend.make();
  // As `schema`, the name of the tables' schema would give way to the state versions of a case.
  const { schema, ...rest } = (place.options ?? {}) as { readonly schema?: unknown };
  const own = typeof schema === "string" ? { ...rest, databaseSchema: schema } : place.options;
  return {
    open: (options) => open(place.url, { ...own, ...options }),
    cleanup: () => place.cleanup(),
  };
}
