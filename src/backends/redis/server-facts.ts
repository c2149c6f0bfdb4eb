import { ThreadmarkError } from "../../errors.ts";
import type { Host } from "./connection/address.ts";
import { nameOf } from "./connection/address.ts";
import type { Servers } from "./connection/servers.ts";

/** The facts that a server reports about itself. */
export interface ServerFacts {
  readonly isCluster: boolean;
  /** Whether it keeps an append-only file, so that commits survive its end. */
  readonly appendOnly: boolean;
}

/** Reads a server's facts. Refuses one that is too old, or that would drop keys when its memory is full. */
export async function serverFacts(servers: Servers, host: Host): Promise<ServerFacts> {
  const facts = new Map<string, string>();
  const sections = ["server", "memory", "persistence", "cluster"];
  for (const text of await Promise.all(sections.map((section) => servers.ask(host, ["INFO", section])))) {
    for (const line of String(text).split("\r\n")) {
      const at = line.indexOf(":");
      if (at > 0) facts.set(line.slice(0, at), line.slice(at + 1));
    }
  }
  const version = facts.get("redis_version") ?? "";
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major < 6 || (major === 6 && minor < 2)) {
    throw new ThreadmarkError(
      "UNSUPPORTED",
      `redis ${nameOf(host)}: the server has version ${version}. Use Redis 6.2 or later, or Valkey.`,
    );
  }
  const policy = facts.get("maxmemory_policy") ?? "noeviction";
  if (policy.startsWith("allkeys")) {
    throw new ThreadmarkError(
      "UNSUPPORTED",
      `redis ${nameOf(host)}: maxmemory-policy ${policy} drops keys when the memory is full, and a store with them. ` +
        "Set it to noeviction.",
    );
  }
  return { isCluster: facts.get("cluster_enabled") === "1", appendOnly: facts.get("aof_enabled") === "1" };
}
