import type { Backend } from "../backend.ts";
import type { FileOptions } from "../backends/file/index.ts";
import type { PostgresOptions } from "../backends/postgres/index.ts";
import type { RedisOptions } from "../backends/redis/index.ts";
import type { SqliteOptions } from "../backends/sqlite/index.ts";
import { canCompress, unsupported } from "../codec/envelope.ts";
import { createValueCodec } from "../codec/values/value.ts";
import { Engine } from "../engine/engine.ts";
import type { OpenOptions, StoreOptions } from "../model/interface/store-options.ts";
import { retentionRules } from "../model/retention/sweep.ts";
import { type StateSchemas, StateVersions } from "../model/state-versions.ts";
import { checkedClock, checkedIds, checkOpenOptions, type Scheme } from "../model/validation/store/open.ts";
import { encrypted } from "./encrypted.ts";
import { openBackend } from "./open-backend.ts";
import { Store } from "./store.ts";

const CACHE_BYTES = 64 * 1024 * 1024;

/** Options of `open` for a `memory:` store. */
export type MemoryOpenOptions = StoreOptions & Pick<OpenOptions, "fsync" | "readOnly">;
/** Options of `open` for a `sqlite:` store. */
export type SqliteOpenOptions = StoreOptions & SqliteOptions;
/** Options of `open` for a `file:` store. */
export type FileOpenOptions = StoreOptions & FileOptions;
/** Options of `open` for a `postgres://` store. */
export type PostgresOpenOptions = Omit<StoreOptions, "schema"> &
  Omit<PostgresOptions, "url" | "schema"> & {
    /** The version of the states, as for every store; or, as a string, the schema of the tables. */
    readonly schema?: StateSchemas | string;
  };
/** Options of `open` for a `redis://` or `rediss://` store. */
export type RedisOpenOptions = StoreOptions & RedisOptions;
/** Options of `open` for a url that is not known when the program is compiled. */
export type AnyOpenOptions =
  | MemoryOpenOptions
  | SqliteOpenOptions
  | FileOpenOptions
  | PostgresOpenOptions
  | RedisOpenOptions;

/** Urls whose options are known by their scheme. */
type KnownUrl =
  | "memory:"
  | `${"sqlite" | "file"}:${string}`
  | `${"postgres" | "postgresql" | "redis" | "rediss"}://${string}`;

/**
 * Opens a store: `memory:`, `file:./directory`, `sqlite:path`, `postgres://…`, `redis://…`, or a backend of your own. Nothing is
 * created before the first write. The options are those of every store and of the url's scheme; others are a TypeError.
 *
 * @example
 * const store = await open<State>("sqlite:agent.db", { fsync: "normal" });
 * await store.thread("user-42").put({ state });
 */
export function open<State = unknown>(url: "memory:", options?: MemoryOpenOptions): Promise<Store<State>>;
export function open<State = unknown>(url: `sqlite:${string}`, options?: SqliteOpenOptions): Promise<Store<State>>;
export function open<State = unknown>(url: `file:${string}`, options?: FileOpenOptions): Promise<Store<State>>;
export function open<State = unknown>(
  url: `${"postgres" | "postgresql"}://${string}`,
  options?: PostgresOpenOptions,
): Promise<Store<State>>;
export function open<State = unknown>(
  url: `${"redis" | "rediss"}://${string}`,
  options?: RedisOpenOptions,
): Promise<Store<State>>;
export function open<State = unknown>(backend: Backend, options?: StoreOptions): Promise<Store<State>>;
export function open<State = unknown, Location extends string | Backend = string | Backend>(
  location: Location & (Location extends KnownUrl | Backend ? never : unknown),
  options?: AnyOpenOptions,
): Promise<Store<State>>;
export async function open<State = unknown>(
  location: string | Backend,
  options: AnyOpenOptions = {},
): Promise<Store<State>> {
  const scheme = typeof location === "string" ? schemeOf(location) : undefined;
  if (scheme === undefined) checkBackend(location);
  checkOpenOptions(options, scheme);
  const { clock, ids, classes, unregistered, schema, retention, compression = "none" } = options;
  if (compression !== "none" && !canCompress(compression)) throw unsupported(compression);
  const codec = createValueCodec(classes, unregistered);
  const place = typeof location === "string" ? await openBackend(location, scheme as Scheme, options) : location;
  const encryption = options.encryption && (await encrypted(place, { ...options.encryption }));
  return new Store<State>(
    new Engine({
      backend: encryption ?? place,
      encryption,
      codec,
      clock: clock ? checkedClock(clock) : Date.now,
      ids: ids && checkedIds(ids),
      cacheBytes: options.cacheBytes ?? CACHE_BYTES,
      compression,
      versions: typeof schema === "object" ? new StateVersions(schema) : undefined,
      packRows: options.packRows,
      packBytes: options.packBytes,
      checkpointBytes: options.checkpointBytes,
      rewriteBytes: options.rewriteBytes,
      largeValues: options.largeValues && { ...options.largeValues },
      retention: retention && retentionRules(retention),
      readOnly: "readOnly" in options && options.readOnly === true,
    }),
  );
}

function checkBackend(backend: unknown): void {
  if (backend !== null && typeof backend === "object" && typeof (backend as Backend).commit === "function") return;
  throw new TypeError("open takes a url (memory:, file:, sqlite:, postgres:, redis:) or a backend.");
}

/** Returns the scheme of a url; a TypeError where there is no such kind of store. */
function schemeOf(url: string): Scheme {
  const scheme = url.slice(0, url.indexOf(":"));
  switch (scheme) {
    case "memory":
    case "sqlite":
    case "file":
    case "postgres":
    case "redis":
      return scheme;
    case "rediss":
      return "redis";
    case "postgresql":
      return "postgres";
    default:
      throw new TypeError(
        `Unknown url ${JSON.stringify(url)}. Use memory:, file:./directory, sqlite:path, postgres://... or redis://...`,
      );
  }
}
