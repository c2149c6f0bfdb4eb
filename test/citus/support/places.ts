import { randomBytes } from "node:crypto";
import { afterAll } from "vitest";
import type { PostgresOptions } from "../../../src/backends/postgres/index.ts";
import { postgres } from "../../../src/backends/postgres/index.ts";
import { type BackendUnderTest, postgresUnderTest } from "../../support/places.ts";
import { emptySchemas, schemasOf } from "../../support/postgres/places.ts";
import { coordinator, query } from "./coordinator.ts";

/** The shards of the stores under test: more than there are nodes, so that every node has several. */
export const shards = 4;

export interface CitusPlace {
  readonly url: string;
  readonly options: PostgresOptions & { readonly databaseSchema: string };
  cleanup(): Promise<void>;
}

const made: CitusPlace[] = [];

afterAll(async () => {
  for (const { options } of made) await drop(options.databaseSchema, options.shards);
});

async function drop(schema: string, count: number | undefined): Promise<void> {
  for (const name of schemasOf(schema, count)) await query(`drop schema if exists ${name} cascade`);
}

/** Makes the tables of a store on the coordinator, as on any server. */
export async function makeTables(options: PostgresOptions = {}): Promise<CitusPlace> {
  const schema = `citus_${randomBytes(6).toString("hex")}`;
  const url = coordinator();
  const place = {
    url,
    options: { connections: 4, shards, ...options, databaseSchema: schema },
    cleanup: async () => {},
  };
  made.push(place);
  const backend = await postgres({ url, ...place.options });
  const key = { table: "meta", lineage: 1, group: 1, item: 1, part: 0 } as const;
  await backend.commit([{ inserts: [{ key, value: "made" }] }]);
  await backend.commit([{ deletes: [key] }]);
  await backend.close();
  return place;
}

/** Makes a store, and lets Citus place the schemas of its shards on its nodes. */
export async function makeDistributed(options: PostgresOptions = {}): Promise<CitusPlace> {
  const place = await makeTables(options);
  for (const name of schemasOf(place.options.databaseSchema, place.options.shards).slice(0, -1)) {
    await query("select citus_schema_distribute($1::text::regnamespace)", [name]);
  }
  return place;
}

/** Places that are used one after the other: distributing a schema takes longer than most cases. */
function reusedDistributed(options: PostgresOptions = {}): () => Promise<CitusPlace> {
  const free: CitusPlace[] = [];
  return async () => {
    const place = free.pop() ?? (await makeDistributed(options));
    return {
      ...place,
      async cleanup() {
        await emptySchemas(query, place.options.databaseSchema, place.options.shards);
        free.push(place);
      },
    };
  };
}

export const citusUnderTest: BackendUnderTest = {
  ...postgresUnderTest,
  name: "citus",
  make: reusedDistributed({ compact: "online" }),
};
