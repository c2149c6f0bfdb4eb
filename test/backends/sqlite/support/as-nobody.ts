import { findDriver } from "../../../../src/backends/sqlite/driver/find-driver.ts";
import { sqlite } from "../../../../src/backends/sqlite/index.ts";

/**
 * Reads and commits where permission bits forbid writing: `as-nobody.ts path`. Prints what came of it. Bits do not bind
 * root, so root becomes nobody first, after everything has been loaded.
 */
const [path = ""] = process.argv.slice(2);
const driver = await findDriver();
if (process.getuid?.() === 0) {
  process.setgid?.(65_534);
  process.setuid?.(65_534);
}

const key = { table: "tail", lineage: 1, group: 1, item: 1, part: 0 } as const;
const backend = await sqlite(path, { driver });
const read = await backend.read([{ get: key }]);
const commit = await backend.commit([{ puts: [{ key, value: "changed" }] }]).catch((error: unknown) => error);
const again = await backend.read([{ get: key }]);
await backend.close();

const { code, committed, cause } = commit as { code?: unknown; committed?: unknown; cause?: { code?: unknown } };
process.stdout.write(
  JSON.stringify({ read: read[0] ?? null, again: again[0] ?? null, code, committed, cause: cause?.code }),
);
