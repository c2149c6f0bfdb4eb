import { ThreadmarkError } from "../../../errors.ts";

/** A statement in the driver's form. */
export interface QueryConfig {
  readonly text: string;
  /** The statement is prepared under this name, once for each connection. */
  readonly name?: string;
  readonly values?: readonly unknown[];
  readonly rowMode?: "array";
  readonly types?: { getTypeParser(type: number, format?: string): (value: string) => unknown };
}

export interface QueryResult {
  readonly rows: readonly unknown[];
  readonly rowCount: number | null;
}

/** The part of a `pg` client that Threadmark uses. */
export interface ClientLike {
  // biome-ignore lint/suspicious/noExplicitAny: pg overloads query(); one wide signature matches all of them.
  query(config: any): Promise<any>;
  release(destroy?: boolean | Error): void;
  /** The connection of `pg`'s JavaScript client, which emits the server's messages. The native client has none. */
  readonly connection?: {
    // biome-ignore lint/suspicious/noExplicitAny: each event has a message of its own.
    on(event: "readyForQuery" | "parameterStatus", listener: (message: any) => void): unknown;
  };
  /** Returns `I`, `T` or `E`. Newer versions of `pg` have it, in the native client too. */
  getTransactionStatus?(): string | null;
  // biome-ignore lint/suspicious/noExplicitAny: the listeners of pg's other events take other arguments.
  on(event: "error", listener: (error: any) => void): unknown;
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  removeListener(event: "error", listener: (error: any) => void): unknown;
}

/**
 * The part of a `pg` Pool that Threadmark uses. Pass your own to share its connections; you end it yourself.
 *
 * @example
 * const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
 * const store = await open(await postgres({ pool }));
 */
export interface PoolLike {
  connect(): Promise<ClientLike>;
  end(): Promise<void>;
  // biome-ignore lint/suspicious/noExplicitAny: the listeners of pg's events take different arguments.
  on(event: "error" | "connect", listener: (subject: any) => void): unknown;
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  removeListener(event: "error" | "connect", listener: (subject: any) => void): unknown;
}

interface Driver {
  readonly Pool: new (config: object) => PoolLike;
}

/** Opens the backend's own pool. Nothing connects before the first statement. */
export async function openPool(
  url: string,
  options: { readonly connections?: number; readonly patience: number },
): Promise<PoolLike> {
  const { Pool } = await loadDriver();
  return new Pool({
    connectionString: url,
    max: options.connections ?? 10,
    connectionTimeoutMillis: options.patience,
    // Detects, if late, a server that vanished without closing the connection.
    keepAlive: true,
    fallback_application_name: "threadmark",
  });
}

async function loadDriver(): Promise<Driver> {
  try {
    const { default: driver } = (await import("pg")) as unknown as { default: Driver };
    return driver;
  } catch (cause) {
    throw new ThreadmarkError(
      "UNSUPPORTED",
      "Postgres needs the package `pg`, which could not be loaded: run `npm install pg`.",
      { cause },
    );
  }
}

/** Returns a url's server and database without the password, for messages. */
export function describeUrl(url: string): string {
  try {
    const { hostname, port, pathname } = new URL(url);
    return `postgres://${hostname}${port === "" ? "" : `:${port}`}${pathname}`;
  } catch {
    return "postgres";
  }
}
