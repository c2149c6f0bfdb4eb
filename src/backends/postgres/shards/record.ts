import { ThreadmarkError } from "../../../errors.ts";
import { isMissing } from "../connection/failure.ts";
import type { Server } from "../connection/server.ts";
import { statement } from "../connection/server.ts";
import { quote } from "../schema/layout.ts";
import { changeSchema, migrate, otherKind, refuseLaterLayout, shardOfStore } from "../schema/migrate.ts";

/** The record of a store's shards, in the schema that the store is opened by. */
export interface ShardRecord {
  readonly shards: number;
  /** The layout that all shards have reached. */
  readonly layout: number;
}

/** How many schemas are migrated at once. */
const migratedAtOnce = 4;

/** Returns the schemas of a store's shards, in order. */
export function shardNames(schema: string, shards: number): readonly string[] {
  return Array.from({ length: shards }, (_, shard) => `${schema}_${shard}`);
}

/** Reads the record; undefined where there is none. */
export async function readRecord(server: Server, schema: string): Promise<ShardRecord | undefined> {
  try {
    const { rows } = await server.run(statement(`select shards, layout from ${quote(schema)}.shards`), []);
    const [row] = rows as readonly (readonly [string, string])[];
    return row && { shards: Number(row[0]), layout: Number(row[1]) };
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Fails if a store has another number of shards, or tables of a later version. */
export function refuseOtherRecord(
  server: Server,
  schema: string,
  { shards, layout }: ShardRecord,
  wanted: number | undefined,
): void {
  refuseLaterLayout(layout, server, schema, shardOfStore);
  if (wanted === undefined || wanted === shards) return;
  throw new ThreadmarkError(
    "UNSUPPORTED",
    `${server.address}: the store in the schema ${schema} has ${shards} shards, not ${wanted}. Their number is fixed when a store is ` +
      `made: open it with \`shards: ${shards}\`, or export it into a store with ${wanted} shards in another schema.`,
    { committed: false },
  );
}

/**
 * Makes the record and the shards, or migrates them, each schema in a transaction of its own. Any number of processes may do
 * so at once: each finds done whatever another has done.
 */
export async function migrateShards(server: Server, schema: string, shards: number): Promise<void> {
  const record = `${quote(schema)}.shards`;
  await changeSchema(server, schema, async (run, layout) => {
    if (layout > 0 && layout < shardOfStore.first) throw otherKind(server, schema);
    if (layout === 0) {
      await run(
        `create table ${record} (one bool primary key check (one), shards int4 not null, layout int4 not null)`,
      );
      await run(`insert into ${record} values (true, ${shards}, 0)`);
      // Tells versions that know of no shards that this is no store for them.
      await run(`insert into ${quote(schema)}.migration (number) values (${shardOfStore.first})`);
    }
    const [row] = await run(`select shards, layout from ${record}`);
    refuseOtherRecord(server, schema, { shards: Number(row?.[0]), layout: Number(row?.[1]) }, shards);
  });
  const names = [...shardNames(schema, shards)];
  const work = async (): Promise<void> => {
    for (let name = names.shift(); name !== undefined; name = names.shift()) await migrate(server, name, shardOfStore);
  };
  await Promise.all(Array.from({ length: migratedAtOnce }, work));
  await server.run(statement(`update ${record} set layout = $1::int4 where layout < $1::int4`), [shardOfStore.latest]);
}
