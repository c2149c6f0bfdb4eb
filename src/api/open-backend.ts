import type { Backend } from "../backend.ts";
import { sqlite } from "../backends/sqlite/index.ts";
import type { OpenOptions } from "../model/interface/store-options.ts";
import { backendPart, type Scheme } from "../model/validation/store/open.ts";

/**
 * Opens the backend that a url names. The web build has `web/open-backend.ts` instead. Backends and their drivers are loaded when a url first asks for them. SQLite's, the
 * commonest, is small and comes along: finding another file would take as long as parsing it.
 */
export async function openBackend(url: string, scheme: Scheme, options: Omit<OpenOptions, "schema">): Promise<Backend> {
  const rest = url.slice(url.indexOf(":") + 1);
  if ((scheme === "sqlite" || scheme === "file") && /^\/\/[^/]/.test(rest)) {
    const path = rest.slice(2);
    throw new TypeError(
      `${scheme}: takes a path, and ${url} names a host. Use ${scheme}:${path} or ${scheme}:/${path}.`,
    );
  }
  const own = backendPart(options, scheme);
  switch (scheme) {
    case "memory":
      if (rest !== "") throw new TypeError("A memory: store has no name. Use memory: alone.");
      if (options.readOnly) throw new TypeError("A memory: store is empty at first: read-only it would stay so.");
      return (await import("../backends/memory/index.ts")).memory();
    case "sqlite":
      if (rest === "") throw new TypeError("sqlite: needs a path, as in sqlite:agent.db.");
      return sqlite(rest, own);
    case "file":
      if (rest === "") throw new TypeError("file: needs a directory, as in file:./agent.");
      return (await import("../backends/file/index.ts")).file(rest, own);
    case "postgres":
      return (await import("../backends/postgres/index.ts")).postgres({ ...own, url });
    case "redis":
      return (await import("../backends/redis/index.ts")).redis(url, own);
  }
}
