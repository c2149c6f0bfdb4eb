import { queryOn } from "../../support/postgres/database.ts";

/** Returns the url of the coordinator that the tests run on. */
export function coordinator(): string {
  const url = process.env.THREADMARK_TEST_CITUS;
  if (url) return url;
  throw new Error(
    "These tests need a Citus cluster: start a coordinator and workers, create the extension citus in a database, add the workers, " +
      "and set THREADMARK_TEST_CITUS to the url of that database on the coordinator.",
  );
}

/** Runs one statement on the coordinator, on a connection of its own. */
export function query(text: string, values: readonly unknown[] = []): Promise<Record<string, unknown>[]> {
  return queryOn(coordinator(), text, values);
}

/** Says on what the tests run, before the first. */
export default async function setup(): Promise<void> {
  const [version] = await query("select citus_version() as citus, current_setting('server_version') as postgres");
  const [nodes] = await query("select count(*)::int as count from citus_get_active_worker_nodes()");
  console.log(`${version?.citus} on Postgres ${version?.postgres}, ${nodes?.count} workers`);
}
