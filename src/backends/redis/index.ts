import type { Backend } from "../../backend.ts";
import { checkBackendOptions } from "../../model/validation/store/open.ts";
import { RedisBackend } from "./backend.ts";
import { parseAddress } from "./connection/address.ts";
import { loadDriver, type RedisDriver } from "./connection/driver.ts";
import { Servers } from "./connection/servers.ts";

export type { RedisClientLike, RedisDriver } from "./connection/driver.ts";

/** Options of `redis`. */
export interface RedisOptions {
  /** The beginning of all keys of the store: letters, digits and `_ . : -`, up to 64. @default "threadmark" */
  readonly prefix?: string;
  /**
   * How many replicas must have a commit before it is acknowledged. A commit that too few have within five seconds fails
   * with `committed: "unknown"`. @default 0
   */
  readonly replicas?: number;
  /**
   * The number of parts that the store is cut into, each of which lives on one server of a cluster: 1 to 1024. Takes effect
   * when the store is made. @default 64 in a cluster, else 1
   */
  readonly shards?: number;
  /** The most connections to each server. @default 4 */
  readonly connections?: number;
  /** Milliseconds to wait for a server that starts, went away or is being replaced, also in `open`. @default 15000 */
  readonly patience?: number;
  /** Options of TLS for `rediss:` urls, as Node's `tls.connect` takes them. @default those of Node */
  readonly tls?: object;
  /** Whether every change is refused with READ_ONLY. @default false */
  readonly readOnly?: boolean;
  /** The package `redis`, or anything that has its `createClient`. @default the one that is installed */
  readonly driver?: RedisDriver;
}

/** A timer with a longer delay fires at once. */
const mostMilliseconds = 2 ** 31 - 1;

/**
 * Opens a store in Redis or Valkey: `redis://host:port/database`, `rediss://…` for TLS, several hosts or `?cluster` for a cluster,
 * `?sentinel=name` for the master that sentinels at the hosts watch. Nothing is created before the first commit.
 *
 * @example
 * const store = await open(await redis("redis://10.0.0.1:6379", { replicas: 1 }));
 */
export async function redis(url: string, options: RedisOptions = {}): Promise<Backend> {
  checkBackendOptions(options, "redis");
  checkOptions(options);
  const address = parseAddress(url);
  const { prefix = "threadmark", connections = 4, patience = 15_000, replicas = 0, readOnly = false } = options;
  const access = { driver: options.driver ?? (await loadDriver()), address, tls: options.tls };
  const servers = new Servers(access, { connections, patience });
  const settings = { prefix, connections, replicas, readOnly, shards: options.shards };
  return RedisBackend.open(servers, settings);
}

function checkOptions({ prefix, tls, driver, readOnly, ...numbers }: RedisOptions): void {
  if (prefix !== undefined && (typeof prefix !== "string" || !/^[\w.:-]{1,64}$/.test(prefix))) {
    throw new TypeError("redis: `prefix` is 1 to 64 letters, digits, or _ . : -");
  }
  if (readOnly !== undefined && typeof readOnly !== "boolean")
    throw new TypeError("redis: `readOnly` is true or false.");
  if (tls !== undefined && (typeof tls !== "object" || tls === null)) {
    throw new TypeError("redis: `tls` is an object of TLS options.");
  }
  if (driver !== undefined && typeof (driver as Partial<RedisDriver> | null)?.createClient !== "function") {
    throw new TypeError("redis: `driver` must have the function createClient, as the package redis has.");
  }
  for (const [name, least, most] of [
    ["replicas", 0, 1024],
    ["shards", 1, 1024],
    ["connections", 1, 1024],
    ["patience", 0, mostMilliseconds],
  ] as const) {
    const value = numbers[name];
    if (value === undefined || (Number.isInteger(value) && value >= least && value <= most)) continue;
    throw new TypeError(`redis: \`${name}\` is a whole number from ${least} to ${most}.`);
  }
}
