import type { SaverDatabase } from "./saver-database.ts";

export type { ImportFault } from "./fault.ts";
export type { SaverDatabase } from "./saver-database.ts";
export { transfer } from "./transfer.ts";

/** Opens the database of one of LangGraph's savers: a file of SqliteSaver, or a url of PostgresSaver. */
export async function openSaverDatabase(
  location: string,
  options: { readonly schema?: string } = {},
): Promise<SaverDatabase> {
  if (/^postgres(?:ql)?:\/\//.test(location)) {
    return (await import("./postgres-saver-database.ts")).openPostgresSaverDatabase(location, options.schema);
  }
  const file = location.startsWith("sqlite:") ? location.slice("sqlite:".length) : location;
  if (file === "" || /^(?:memory|file):/.test(file) || /^[a-z][a-z+]+:\/\//i.test(file)) {
    throw new TypeError(`${JSON.stringify(location)} is neither a SQLite file nor a postgres:// url.`);
  }
  return (await import("./sqlite-saver-database.ts")).openSqliteSaverDatabase(file);
}
