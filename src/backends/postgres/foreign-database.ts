import { notConnected, toError } from "./connection/failure.ts";
import { describeUrl, openPool } from "./connection/pool.ts";

/** A connection to a Postgres database of another program. */
export interface ForeignDatabase {
  /** The url without its password. */
  readonly place: string;
  query<Row>(text: string, values?: readonly unknown[]): Promise<readonly Row[]>;
  close(): Promise<void>;
}

/** Connects to a Postgres database of another program. `patience`: milliseconds to wait for the server. */
export async function connectForeignDatabase(url: string, patience: number): Promise<ForeignDatabase> {
  const place = describeUrl(url);
  const pool = await openPool(url, { connections: 1, patience });
  // A connection that fails while it is idle is reported by the next statement.
  pool.on("error", () => undefined);
  try {
    const client = await pool.connect();
    return {
      place,
      async query<Row>(text: string, values: readonly unknown[] = []) {
        try {
          return ((await client.query({ text, values })) as { readonly rows: readonly Row[] }).rows;
        } catch (cause) {
          throw toError(place, notConnected(cause));
        }
      },
      async close() {
        client.release();
        await pool.end();
      },
    };
  } catch (cause) {
    await pool.end();
    throw toError(place, notConnected(cause));
  }
}
