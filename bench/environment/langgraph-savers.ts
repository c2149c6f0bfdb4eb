import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";
import { BetterSqlite } from "./better-sqlite.ts";

/**
 * LangGraph's own savers, once bench/ has its packages: `npm ci --prefix bench`. SqliteSaver is written for better-sqlite3, a native
 * module; here it gets Node's own SQLite behind the few methods it uses, so that both sides have the same driver.
 */

export interface OriginalSaver {
  readonly saver: BaseCheckpointSaver;
  /** Gives free pages back. */
  vacuum(): void;
  close(): Promise<void>;
}

/** A name that is no literal: the packages are not there to be checked against before bench/ has been installed. */
function load(kind: "sqlite" | "postgres"): Promise<unknown> {
  const name = `@langchain/langgraph-checkpoint-${kind}`;
  return import(name);
}

type SqlitePackage = { readonly SqliteSaver: new (database: object) => BaseCheckpointSaver };
type PostgresPackage = {
  readonly PostgresSaver: {
    fromConnString(
      url: string,
      options?: { readonly schema?: string },
    ): BaseCheckpointSaver & { setup(): Promise<void>; end(): Promise<void> };
  };
};

/** `normal` is what better-sqlite3 is compiled to use in WAL mode, so what SqliteSaver's users have. */
export async function originalSqliteSaver(
  file: string,
  synchronous: "normal" | "full" = "normal",
): Promise<OriginalSaver> {
  const { SqliteSaver } = (await load("sqlite")) as SqlitePackage;
  const database = new BetterSqlite(file, synchronous);
  return {
    saver: new SqliteSaver(database),
    vacuum: () => database.exec("VACUUM"),
    close: async () => database.close(),
  };
}

export async function originalPostgresSaver(url: string, schema = "public"): Promise<Omit<OriginalSaver, "vacuum">> {
  const { PostgresSaver } = (await load("postgres")) as PostgresPackage;
  const saver = PostgresSaver.fromConnString(url, { schema });
  await saver.setup();
  return { saver, close: () => saver.end() };
}
