import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { ServerFailure } from "../../shared/failure.ts";
import { refuseTooLarge } from "../writing/message-size.ts";
import type { Connections } from "./connections.ts";
import { BinaryValue, notAnswered } from "./failure.ts";
import type { ClientLike, QueryConfig, QueryResult } from "./pool.ts";
import { checkSession, isFit, isInTransaction, refuseTransaction, refuseUnsynced } from "./session.ts";

/** A constant statement, prepared once for each connection under a name derived from its text. */
export interface Statement {
  readonly text: string;
  readonly name: string;
}

/** Runs a statement of a transaction. */
export type RunStatement = (statement: Statement, values: readonly unknown[]) => Promise<QueryResult>;

export function statement(text: string): Statement {
  return { text, name: `threadmark_${createHash("sha256").update(text).digest("hex").slice(0, 32)}` };
}

/** Parses values as text, and bytes as buffers, independently of any parsers that the application registered. */
const types: NonNullable<QueryConfig["types"]> = {
  getTypeParser(type, format) {
    if (format === "binary") return refuseBinary;
    return type === byteaType ? toBytes : asText;
  },
};
const byteaType = 17;
const asText = (value: string): string => value;

/**
 * Decodes `bytea`: hexadecimal after `\x`; with `bytea_output = escape`, ASCII with other bytes in octal. No escaped
 * text begins with `\x`, since a backslash is doubled.
 */
function toBytes(value: string): Buffer {
  if (value.startsWith("\\x")) return Buffer.from(value.slice(2), "hex");
  const plain = value.replace(/\\(\\|[0-7]{3})/g, (_, escaped: string) =>
    escaped === "\\" ? escaped : String.fromCharCode(Number.parseInt(escaped, 8)),
  );
  return Buffer.from(plain, "latin1");
}

/**
 * Throws for a binary value, which fails the statement. Thrown where the driver asks for a parser, it would end the
 * process.
 */
function refuseBinary(): never {
  throw new BinaryValue();
}

const firstPause = 10;
const longestPause = 500;

/** Runs single statements, each on any free connection. */
export class Server {
  /** The server and database, for messages. */
  readonly address: string;
  readonly #connections: Connections;
  readonly #prepare: boolean;
  /** Milliseconds to wait while a failure is temporary. */
  readonly patience: number;
  readonly #synced: boolean;

  /** Takes whether a session must be refused that acknowledges commits before they are synced. */
  constructor(connections: Connections, address: string, prepare: boolean, patience: number, synced: boolean) {
    this.#synced = synced;
    this.#connections = connections;
    this.address = address;
    this.#prepare = prepare;
    this.patience = patience;
  }

  /** Returns the number of lost connections. */
  get interruptions(): number {
    return this.#connections.interruptions;
  }

  /** Runs one statement in one round trip and one attempt. Throws, or rejects with, a {@link ServerFailure}. */
  run({ text, name }: Statement, values: readonly unknown[]): Promise<QueryResult> {
    refuseTooLarge(values);
    const config: QueryConfig = { text, values, rowMode: "array", types };
    return this.with((client) => query(client, this.#prepare ? { ...config, name } : config));
  }

  /**
   * Runs statements in one transaction, in one attempt. It is committed if `work` resolves to true, else rolled back. Only the
   * end of a transaction can have been applied when it fails.
   */
  transaction(work: (run: RunStatement) => Promise<boolean>): Promise<boolean> {
    return this.with(async (client) => {
      try {
        await query(client, { text: "begin" });
        const isWanted = await work(({ text, name }, values) => {
          refuseTooLarge(values);
          const config: QueryConfig = { text, values, rowMode: "array", types };
          return query(client, this.#prepare ? { ...config, name } : config);
        });
        if (!isWanted) {
          await query(client, { text: "rollback" });
          return false;
        }
      } catch (error) {
        // Ends the transaction where the connection still can; else the server does.
        await query(client, { text: "rollback" }).catch(() => {});
        throw error instanceof ServerFailure
          ? new ServerFailure(error.cause, false, error.passing, error.state)
          : error;
      }
      await query(client, { text: "commit" });
      return true;
    });
  }

  /** Runs a command without parameters that must not be in a transaction, such as vacuum. */
  async execute(text: string): Promise<void> {
    await this.with((client) => query(client, { text }));
  }

  /**
   * Calls `use` with a connection, synchronously if one is kept. The connection is reused unless it may be broken. A
   * connection inside a transaction is closed, which makes the server roll that transaction back: no statement of this
   * backend may be part of it.
   */
  async with<T>(use: (client: ClientLike) => Promise<T>): Promise<T> {
    const taken = this.#connections.take();
    const client = taken instanceof Promise ? await taken : taken;
    let broken: boolean | Error = true;
    try {
      if (!isFit(client)) await checkSession(client);
      if (this.#synced) refuseUnsynced(client);
      const result = await use(client);
      refuseTransaction(client, true);
      broken = false;
      return result;
    } catch (error) {
      const usable = error instanceof ServerFailure && !error.mayHaveApplied && error.state !== "";
      // Listeners to the pool's `release` get the reason.
      if (usable && !isInTransaction(client)) broken = false;
      else if (error instanceof ServerFailure) broken = error;
      throw error;
    } finally {
      this.#connections.giveBack(client, broken);
    }
  }

  /**
   * Repeats `attempt` until it succeeds, fails for good, or patience ends. `attempt` gets whether an earlier attempt
   * may have been applied. Rejects with the last {@link ServerFailure}, whose `mayHaveApplied` covers all attempts.
   */
  async persist<T>(attempt: (mayHaveApplied: boolean) => Promise<T>): Promise<T> {
    const end = Date.now() + this.patience;
    let mayHaveApplied = false;
    for (let pause = firstPause; ; pause = Math.min(2 * pause, longestPause)) {
      try {
        return await attempt(mayHaveApplied);
      } catch (error) {
        if (!(error instanceof ServerFailure)) throw error;
        mayHaveApplied ||= error.mayHaveApplied;
        if (!error.passing || Date.now() + pause > end) {
          throw new ServerFailure(error.cause, mayHaveApplied, false, error.state);
        }
        // Half fixed, half random, so that two colliding attempts do not collide again.
        await sleep(pause / 2 + (Math.random() * pause) / 2);
      }
    }
  }
}

async function query(client: ClientLike, config: QueryConfig): Promise<QueryResult> {
  try {
    return (await client.query(config)) as QueryResult;
  } catch (cause) {
    throw notAnswered(cause);
  }
}
