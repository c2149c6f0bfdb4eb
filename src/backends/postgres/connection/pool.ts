import { ThreadmarkError } from "../../../errors.ts";

/** One statement as the driver takes it. */
export interface QueryConfig {
  readonly text: string;
  /** Prepared under this name once a connection. */
  readonly name?: string;
  readonly values?: readonly unknown[];
  readonly rowMode?: "array";
  readonly types?: { getTypeParser(type: number, format?: string): (value: string) => unknown };
}

export interface QueryResult {
  readonly rows: readonly unknown[];
  readonly rowCount: number | null;
}

/** What Threadmark uses of a `pg` client. */
export interface ClientLike {
  // biome-ignore lint/suspicious/noExplicitAny: pg overloads query(); one wide signature matches all of them.
  query(config: any): Promise<any>;
  release(destroy?: boolean | Error): void;
  /** The wire of `pg`'s own client, which repeats what the server says. Its native client has none. */
  readonly connection?: {
    // biome-ignore lint/suspicious/noExplicitAny: each event has a message of its own.
    on(event: "readyForQuery" | "parameterStatus", listener: (message: any) => void): unknown;
  };
  /** As newer versions of `pg` have it, the native client too: `I`, `T` or `E`. */
  getTransactionStatus?(): string | null;
  // biome-ignore lint/suspicious/noExplicitAny: the listeners of pg's other events take other arguments.
  on(event: "error", listener: (error: any) => void): unknown;
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  removeListener(event: "error", listener: (error: any) => void): unknown;
}

/**
 * What Threadmark uses of a `pg` Pool. Pass your own to share its connections; it stays yours to end.
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

/** Opens a pool of our own. Nothing connects before the first statement. */
export async function openPool(
  url: string,
  options: { readonly connections?: number; readonly patience: number },
): Promise<PoolLike> {
  const { Pool } = await loadDriver();
  return new Pool({
    connectionString: url,
    max: options.connections ?? 10,
    connectionTimeoutMillis: options.patience,
    // A server that vanished without closing the connection is noticed, if late.
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

/** Where a url leads, without the password: for messages. */
export function describeUrl(url: string): string {
  try {
    const { hostname, port, pathname } = new URL(url);
    return `postgres://${hostname}${port === "" ? "" : `:${port}`}${pathname}`;
  } catch {
    return "postgres";
  }
}
