import type { TestDatabase } from "../../../support/postgres/database.ts";

/** Returns the names of a database's schemas but those that every database has. */
export async function schemasOf(database: TestDatabase): Promise<readonly unknown[]> {
  const rows = await database.query(
    "select nspname from pg_namespace where nspname !~ '^(pg_|information_schema|public)' order by 1",
  );
  return rows.map(({ nspname }) => nspname);
}
