import type { Backend } from "../backend.ts";
import { sqlite } from "../backends/sqlite/index.ts";
import { zstdAvailable } from "../codec/envelope.ts";
import { createValueCodec } from "../codec/values/value.ts";
import { Engine } from "../engine/engine.ts";
import { ThreadmarkError } from "../errors.ts";
import { checkId } from "../model/address.ts";
import type { OpenOptions } from "../model/arguments.ts";
import { checkObject } from "../model/validation.ts";
import { Store } from "./store.ts";

const CACHE_BYTES = 64 * 1024 * 1024;

/** Options of the backends, passed on as they are. */
export type BackendOptions = { readonly [option: string]: unknown };

/**
 * Opens a store: `memory:`, `file:./directory`, `sqlite:path`, `postgres://…`, or a backend of your own. Nothing is
 * created before the first write.
 *
 * @example
 * const store = await open<State>("sqlite:agent.db");
 */
export async function open<State = unknown>(
  location: string | Backend,
  options: OpenOptions | (OpenOptions & BackendOptions) = {},
): Promise<Store<State>> {
  checkOptions(options);
  const codec = createValueCodec(options.classes, options.unregistered);
  const backend = typeof location === "string" ? await openBackend(location, options) : checkBackend(location, options);
  return new Store<State>(
    new Engine({
      backend,
      codec,
      clock: options.clock ? checkedClock(options.clock) : Date.now,
      ids: options.ids && checkedIds(options.ids),
      cacheBytes: options.cacheBytes ?? CACHE_BYTES,
      compression: options.compression ?? "none",
      packRows: options.packRows,
      packBytes: options.packBytes,
      checkpointBytes: options.checkpointBytes,
    }),
  );
}

function checkOptions(options: OpenOptions): void {
  checkObject(options, "The options of open");
  const { clock, ids, fsync, readOnly, classes, unregistered, cacheBytes, compression } = options;
  if (clock !== undefined && typeof clock !== "function")
    throw new TypeError("clock must be a function that gives milliseconds.");
  if (ids !== undefined && typeof ids !== "function") throw new TypeError("ids must be a function that gives strings.");
  if (fsync !== undefined && fsync !== "full" && fsync !== "normal")
    throw new TypeError('fsync must be "full" or "normal".');
  if (readOnly !== undefined && typeof readOnly !== "boolean") throw new TypeError("readOnly must be true or false.");
  if (classes !== undefined && (classes === null || typeof classes !== "object" || Array.isArray(classes))) {
    throw new TypeError("classes must be an object of { test, encode, decode } by name.");
  }
  if (unregistered !== undefined && unregistered !== "refuse" && unregistered !== "keep") {
    throw new TypeError('unregistered must be "refuse" or "keep".');
  }
  if (cacheBytes !== undefined && !(typeof cacheBytes === "number" && cacheBytes >= 0)) {
    throw new TypeError("cacheBytes must be a number of bytes.");
  }
  for (const bound of ["packRows", "packBytes", "checkpointBytes"] as const) {
    const given = options[bound];
    if (given === undefined || (Number.isSafeInteger(given) && given > 0)) continue;
    throw new TypeError(`${bound} must be a whole number above 0.`);
  }
  if (compression !== undefined && !["none", "deflate", "zstd"].includes(compression)) {
    throw new TypeError('compression must be "none", "deflate" or "zstd".');
  }
  if (compression === "zstd" && !zstdAvailable()) {
    throw new ThreadmarkError(
      "UNSUPPORTED",
      'This Node has no zstd. Use compression: "deflate", or Node 22.15 or later.',
    );
  }
}

/** A generator of ids is a stranger too: what it gives is checked before it is used. */
function checkedIds(ids: () => string): () => string {
  return () => checkId(ids(), "What the ids function gave");
}

/** So is a clock: what is no number would be stored as a record that nobody can read again. */
function checkedClock(clock: () => number): () => number {
  return () => {
    const now = clock();
    if (!Number.isFinite(now)) throw new TypeError("What the clock gave must be a finite number of milliseconds.");
    return now;
  };
}

function checkBackend(backend: Backend, { readOnly, fsync, mode }: OpenOptions): Backend {
  if (backend === null || typeof backend !== "object" || typeof backend.commit !== "function") {
    throw new TypeError("open takes a url (memory:, file:, sqlite:, postgres:) or a backend.");
  }
  // It is open already: what was asked for would be left undone without a word.
  if (readOnly || fsync !== undefined || mode !== undefined) {
    throw new TypeError("Give readOnly, fsync and mode where the backend is opened.");
  }
  return backend;
}

/**
 * Backends and their drivers are loaded when a url first asks for them. SQLite's, the commonest, is small and comes along:
 * finding another file would take as long as parsing it. Its driver waits like the others.
 */
async function openBackend(url: string, options: OpenOptions): Promise<Backend> {
  const colon = url.indexOf(":");
  const scheme = url.slice(0, colon);
  const rest = url.slice(colon + 1);
  if ((scheme === "sqlite" || scheme === "file") && /^\/\/[^/]/.test(rest)) {
    const path = rest.slice(2);
    throw new TypeError(
      `${scheme}: takes a path, and ${url} names a host. Use ${scheme}:${path} or ${scheme}:/${path}.`,
    );
  }
  switch (scheme) {
    case "memory":
      if (rest !== "") throw new TypeError("A memory: store has no name. Use memory: alone.");
      if (options.readOnly) throw new TypeError("A memory: store is empty at first: read-only it would stay so.");
      return (await import("../backends/memory/index.ts")).memory();
    case "sqlite":
      if (rest === "") throw new TypeError("sqlite: needs a path, as in sqlite:agent.db.");
      return sqlite(rest, options);
    case "file":
      if (rest === "") throw new TypeError("file: needs a directory, as in file:./agent.");
      return (await import("../backends/file/index.ts")).file(rest, options);
    case "postgres":
    case "postgresql":
      return (await import("../backends/postgres/index.ts")).postgres({ ...options, url });
    default:
      throw new TypeError(
        `Unknown url ${JSON.stringify(url)}. Use memory:, file:./directory, sqlite:path or postgres://...`,
      );
  }
}
