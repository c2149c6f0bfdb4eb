import type { Backend } from "../../src/backend.ts";
import { file } from "../../src/backends/file/index.ts";
import { type PostgresOptions, postgres } from "../../src/backends/postgres/index.ts";
import { sqlite } from "../../src/backends/sqlite/index.ts";
import type { Place } from "./places.ts";

/** Opens the backend of a place itself, so that several stores can share it, or look at it through a view. */
export async function backendOf({ url, options }: Place): Promise<Backend> {
  if (typeof url !== "string") return url;
  const path = url.slice(url.indexOf(":") + 1);
  if (url.startsWith("sqlite:")) return sqlite(path, options);
  if (url.startsWith("file:")) return file(path, options);
  return postgres({ ...(options as PostgresOptions | undefined), url });
}
