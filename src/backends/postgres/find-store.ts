import type { Server } from "./connection/server.ts";
import { mostNarrowTapes, mostTapes } from "./schema/layout.ts";
import { otherKind, readLayout, refuseLaterLayout, refuseShard, shardOfStore, wholeStore } from "./schema/migrate.ts";
import { refuseUnfitCitus } from "./shards/citus.ts";
import { readRecord, refuseOtherRecord, shardNames } from "./shards/record.ts";

/** The store that a schema has, or is to have. */
interface FoundStore {
  /** The number of its shards; undefined for a store in the schema itself. */
  readonly shards: number | undefined;
  /** Whether the database has the extension Citus. */
  readonly hasCitus: boolean;
  /** Whether its tables exist in the latest layout. */
  readonly ready: boolean;
  /** Numbers of tapes and lineages in it are below this. */
  readonly tapes: number;
}

/**
 * Checks early that the server can be reached, that its sessions are fit for use, and that the layout of its tables is known. Waits
 * for a server that is starting. Creates nothing.
 */
export async function findStore(server: Server, schema: string, shards: number | undefined): Promise<FoundStore> {
  const { number: layout, isNarrow, hasCitus } = await server.persist(() => readLayout(server, schema));
  const record = layout < shardOfStore.first ? undefined : await server.persist(() => readRecord(server, schema));
  if (record !== undefined) {
    refuseOtherRecord(server, schema, record, shards);
    const names = shardNames(schema, record.shards);
    if (hasCitus) await server.persist(() => refuseUnfitCitus(server, names, true));
    return { shards: record.shards, hasCitus, ready: record.layout === shardOfStore.latest, tapes: mostTapes };
  }
  if (layout > 0 && layout <= wholeStore.latest && shards !== undefined) throw otherKind(server, schema);
  refuseShard(layout, server, schema);
  refuseLaterLayout(layout, server, schema);
  if (hasCitus) await server.persist(() => refuseUnfitCitus(server, [schema], false));
  return { shards, hasCitus, ready: layout === wholeStore.latest, tapes: isNarrow ? mostNarrowTapes : mostTapes };
}
