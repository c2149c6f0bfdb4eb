import type { Backend } from "../../src/backend.ts";
import { type FileOptions, file } from "../../src/backends/file/index.ts";
import { type PostgresOptions, postgres } from "../../src/backends/postgres/index.ts";
import { type RedisOptions, redis } from "../../src/backends/redis/index.ts";
import { type SqliteOptions, sqlite } from "../../src/backends/sqlite/index.ts";
import type { Place } from "./places.ts";

/** Opens the backend of a place itself, so that several stores can share it, or look at it through a view. */
export async function backendOf({ url, options }: Place): Promise<Backend> {
  if (typeof url !== "string") return url;
  const path = url.slice(url.indexOf(":") + 1);
  if (url.startsWith("sqlite:")) return sqlite(path, options as SqliteOptions | undefined);
  if (url.startsWith("file:")) return file(path, options as FileOptions | undefined);
  if (url.startsWith("redis:")) return redis(url, options as RedisOptions | undefined);
  return postgres({ ...(options as PostgresOptions | undefined), url });
}
