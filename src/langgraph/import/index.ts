import type { Source } from "./source.ts";

export type { ImportFault } from "./fault.ts";
export type { Source } from "./source.ts";
export { transfer } from "./transfer.ts";

/** Opens the database of one of LangGraph's savers: a file of SqliteSaver's, or the url of PostgresSaver's. */
export async function openSource(location: string, options: { readonly schema?: string } = {}): Promise<Source> {
  if (/^postgres(?:ql)?:\/\//.test(location)) {
    return (await import("./postgres-source.ts")).postgresSource(location, options.schema);
  }
  const file = location.startsWith("sqlite:") ? location.slice("sqlite:".length) : location;
  if (file === "" || /^(?:memory|file):/.test(file) || /^[a-z][a-z+]+:\/\//i.test(file)) {
    throw new TypeError(`${JSON.stringify(location)} is neither a SQLite file nor a postgres:// url.`);
  }
  return (await import("./sqlite-source.ts")).sqliteSource(file);
}
