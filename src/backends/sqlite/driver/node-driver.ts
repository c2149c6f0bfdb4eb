import { sqlite } from "../../../platform/node-builtins.ts";
import type { Connection, Driver } from "./contract.ts";
import { faultOfCode } from "./contract.ts";

interface NodeSqlite {
  readonly DatabaseSync: new (path: string, options: { readonly readOnly: boolean }) => Connection;
}

/**
 * Returns Node's own SQLite; undefined where this Node has none (before 22.13 it is absent or behind a flag).
 *
 * @example
 * const driver = nodeDriver();
 * const store = await open(await sqlite("agent.db", driver && { driver }));
 */
export function nodeDriver(): Driver | undefined {
  const module = sqlite() as NodeSqlite | undefined;
  if (module === undefined) return undefined;
  return {
    name: "node:sqlite",
    open: (path, { readOnly }) => new module.DatabaseSync(path, { readOnly }),
    fault(error) {
      const code = (error as { readonly errcode?: unknown } | undefined)?.errcode;
      return typeof code === "number" ? faultOfCode(code) : "other";
    },
  };
}
