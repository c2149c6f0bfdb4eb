import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { refuseTooLarge } from "../writing/message-size.ts";
import type { Connections } from "./connections.ts";
import { BinaryValue, Failure, notAnswered } from "./failure.ts";
import type { ClientLike, QueryConfig, QueryResult } from "./pool.ts";
import { checkSession, isFit, isInTransaction, refuseTransaction } from "./session.ts";

/** A statement that stands still: prepared once a connection, under a name made of its text. */
export interface Statement {
  readonly text: string;
  readonly name: string;
}

export function statement(text: string): Statement {
  return { text, name: `threadmark_${createHash("sha256").update(text).digest("hex").slice(0, 32)}` };
}

/** Rows as arrays of the server's text, bytes decoded: whatever parsers the application registered, ours see neither. */
const types: NonNullable<QueryConfig["types"]> = {
  getTypeParser(type, format) {
    if (format === "binary") return refuseBinary;
    return type === byteaType ? toBytes : asText;
  },
};
const byteaType = 17;
const asText = (value: string): string => value;

/**
 * Hexadecimal after `\x`; with `bytea_output = escape` ASCII, other bytes in octal. No byte is written `\x` there: a
 * backslash is doubled.
 */
function toBytes(value: string): Buffer {
  if (value.startsWith("\\x")) return Buffer.from(value.slice(2), "hex");
  const plain = value.replace(/\\(\\|[0-7]{3})/g, (_, escaped: string) =>
    escaped === "\\" ? escaped : String.fromCharCode(Number.parseInt(escaped, 8)),
  );
  return Buffer.from(plain, "latin1");
}

/** Throws when it is called, which fails the statement; thrown where the driver asks for a parser, it would end the process. */
function refuseBinary(): never {
  throw new BinaryValue();
}

const firstPause = 10;
const longestPause = 500;

/** The database as the backend uses it: single statements, each on whatever connection is free. */
export class Server {
  /** Where this is, for messages. */
  readonly address: string;
  readonly #connections: Connections;
  readonly #prepare: boolean;
  /** How many milliseconds to wait for what passes by itself. */
  readonly patience: number;

  constructor(connections: Connections, address: string, prepare: boolean, patience: number) {
    this.#connections = connections;
    this.address = address;
    this.#prepare = prepare;
    this.patience = patience;
  }

  /** How often a connection was lost. */
  get interruptions(): number {
    return this.#connections.interruptions;
  }

  /** One statement, one round trip, one attempt. Throws, or rejects with, a {@link Failure}. */
  run({ text, name }: Statement, values: readonly unknown[]): Promise<QueryResult> {
    refuseTooLarge(values);
    const config: QueryConfig = { text, values, rowMode: "array", types };
    return this.with((client) => query(client, this.#prepare ? { ...config, name } : config));
  }

  /** A command that takes no parameters and must not be in a transaction, such as vacuum. */
  async execute(text: string): Promise<void> {
    await this.with((client) => query(client, { text }));
  }

  /**
   * Runs `use` on one connection, at once if one is at hand. The connection can be used again unless it may be broken. A
   * connection inside a transaction is closed, which makes the server roll that back: nothing of ours may be part of it.
   */
  async with<T>(use: (client: ClientLike) => Promise<T>): Promise<T> {
    const taken = this.#connections.take();
    const client = taken instanceof Promise ? await taken : taken;
    let broken: boolean | Error = true;
    try {
      if (!isFit(client)) await checkSession(client);
      const result = await use(client);
      refuseTransaction(client, true);
      broken = false;
      return result;
    } catch (error) {
      const usable = error instanceof Failure && !error.mayHaveApplied && error.state !== undefined;
      // Listeners to the pool's `release` are told why.
      if (usable && !isInTransaction(client)) broken = false;
      else if (error instanceof Failure) broken = error;
      throw error;
    } finally {
      this.#connections.giveBack(client, broken);
    }
  }

  /**
   * Tries until it succeeds, fails for good, or patience ends. `attempt` is told whether an earlier one may have been
   * applied. Rejects with the last {@link Failure}, which then says the same of all attempts together.
   */
  async persist<T>(attempt: (mayHaveApplied: boolean) => Promise<T>): Promise<T> {
    const end = Date.now() + this.patience;
    let mayHaveApplied = false;
    for (let pause = firstPause; ; pause = Math.min(2 * pause, longestPause)) {
      try {
        return await attempt(mayHaveApplied);
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        mayHaveApplied ||= error.mayHaveApplied;
        if (!error.passing || Date.now() + pause > end) {
          throw new Failure(error.cause, mayHaveApplied, false, error.state);
        }
        // Half fixed, half random: two that collided do not collide again in step.
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
