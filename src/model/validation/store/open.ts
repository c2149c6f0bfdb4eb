import { checkId } from "../../address.ts";
import type { OpenOptions, StoreOptions } from "../../interface/store-options.ts";
import { checkBoolean, checkKeys, checkNumber, checkObject, checkOneOf, type Fields, optional } from "../checks.ts";
import { checkEncryption } from "./encryption.ts";
import { checkRetention } from "./retention.ts";
import { checkStateSchemas } from "./state-schema.ts";

const storeKeys: { readonly [Name in keyof Required<StoreOptions>]: true } = {
  clock: true,
  ids: true,
  classes: true,
  unregistered: true,
  cacheBytes: true,
  compression: true,
  schema: true,
  largeValues: true,
  retention: true,
  encryption: true,
  packRows: true,
  packBytes: true,
  checkpointBytes: true,
  rewriteBytes: true,
};

/** The options of each kind of store beside those that every store takes. */
export const schemeKeys = {
  memory: ["fsync", "readOnly"],
  sqlite: ["fsync", "readOnly", "busyTimeout", "mode", "driver"],
  file: ["fsync", "readOnly", "mode", "fileSystem"],
  postgres: [
    "fsync",
    "readOnly",
    "pool",
    "schema",
    "databaseSchema",
    "partitions",
    "shards",
    "prepare",
    "connections",
    "patience",
    "compact",
  ],
  redis: ["readOnly", "prefix", "replicas", "shards", "connections", "patience", "tls", "driver"],
} as const;

export type Scheme = keyof typeof schemeKeys;

/** The options that make sense only where a backend is opened. */
const backendKeys: readonly (keyof OpenOptions)[] = ["readOnly", "fsync", "mode"];

/** Checks the options of `open` for a url of this scheme; without one, for a backend that is open already. */
export function checkOpenOptions(options: unknown, scheme: Scheme | undefined): void {
  const fields = checkObject(options, "The options of open");
  const known = [...Object.keys(storeKeys), ...(scheme === undefined ? backendKeys : schemeKeys[scheme])];
  const of = scheme === undefined ? "of a backend" : `of a ${scheme}: store`;
  checkKeys(fields, known, `The options object ${of}`);
  checkStoreOptions(fields, scheme);
  optional(fields, "fsync", (value, what) => checkOneOf(value, ["full", "normal"], what));
  optional(fields, "readOnly", checkBoolean);
  const { readOnly, fsync, mode } = fields;
  if (scheme === undefined && (readOnly || fsync !== undefined || mode !== undefined)) {
    throw new TypeError("Give readOnly, fsync and mode where the backend is opened.");
  }
}

/** Checks the options of a backend that is opened by its own function; `further` are those that only that one takes. */
export function checkBackendOptions(options: unknown, scheme: Scheme, further: readonly string[] = []): void {
  checkKeys(
    checkObject(options, `The options of ${scheme}`),
    [...schemeKeys[scheme], ...further],
    `The options object of ${scheme}`,
  );
}

/** Returns the options that are for the backend of this scheme. */
export function backendPart(options: object, scheme: Scheme): Fields {
  const keys: readonly string[] = schemeKeys[scheme];
  const isOwn = ([key, value]: [string, unknown]): boolean =>
    // The schema of the states is the engine's; a string names the schema of Postgres' tables.
    keys.includes(key) && !(key === "schema" && typeof value !== "string");
  return Object.fromEntries(Object.entries(options).filter(isOwn));
}

function checkStoreOptions(fields: Fields, scheme: Scheme | undefined): void {
  const { clock, ids, classes } = fields;
  if (clock !== undefined && typeof clock !== "function")
    throw new TypeError("clock must be a function that gives milliseconds.");
  if (ids !== undefined && typeof ids !== "function") throw new TypeError("ids must be a function that gives strings.");
  if (classes !== undefined && (classes === null || typeof classes !== "object" || Array.isArray(classes)))
    throw new TypeError("classes must be an object of { test, encode, decode } by name.");
  optional(fields, "unregistered", (value, what) => checkOneOf(value, ["refuse", "keep"], what));
  optional(fields, "cacheBytes", checkNumber);
  for (const bound of ["packRows", "packBytes", "checkpointBytes", "rewriteBytes"]) {
    const given = fields[bound];
    if (given === undefined || (Number.isSafeInteger(given) && (given as number) > 0)) continue;
    throw new TypeError(`${bound} must be a whole number above 0.`);
  }
  if (!(scheme === "postgres" && typeof fields["schema"] === "string")) optional(fields, "schema", checkStateSchemas);
  optional(fields, "largeValues", checkLargeValues);
  optional(fields, "retention", checkRetention);
  optional(fields, "encryption", checkEncryption);
  optional(fields, "compression", (value, what) => checkOneOf(value, ["none", "deflate", "zstd"], what));
}

const driverMethods = ["put", "get", "delete", "list"] as const;

function checkLargeValues(value: unknown, what: string): void {
  const fields = checkObject(value, what);
  checkKeys(fields, ["from", "driver"], what);
  const { from, driver } = fields;
  const isLength = from === Number.POSITIVE_INFINITY || (Number.isSafeInteger(from) && (from as number) > 0);
  if (from !== undefined && !isLength) throw new TypeError(`${what}.from must be a whole number above 0, or Infinity.`);
  if (driver === undefined) return;
  const isDriver = (given: unknown): boolean =>
    typeof given === "object" &&
    given !== null &&
    driverMethods.every((name) => typeof (given as { readonly [name: string]: unknown })[name] === "function");
  if (!isDriver(driver)) throw new TypeError(`${what}.driver must have the functions put, get, delete and list.`);
}

/** Returns an id function whose results are checked before they are used. */
export function checkedIds(ids: () => string): () => string {
  return () => checkId(ids(), "What the ids function gave");
}

/** Returns a clock whose results are checked: one that is no number would be stored as a record that cannot be read. */
export function checkedClock(clock: () => number): () => number {
  return () => {
    const now = clock();
    if (!Number.isFinite(now)) throw new TypeError("What the clock gave must be a finite number of milliseconds.");
    return now;
  };
}
