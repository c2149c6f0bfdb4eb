import { ServerFailure } from "../../shared/failure.ts";
import type { Host, ServerAddress } from "./address.ts";
import type { RedisClientLike, RedisDriver } from "./driver.ts";
import { notAnswered, notConnected } from "./failure.ts";

/** How to connect to any node: the parts of the url and the options that all connections share. */
export interface Access {
  readonly driver: RedisDriver;
  readonly address: ServerAddress;
  /** Options of TLS, as Node's `tls.connect` takes them. */
  readonly tls: object | undefined;
}

export type Argument = string | Buffer;

/** Replies come as bytes, since values may be any. The number is `RESP_TYPES.BLOB_STRING`. */
const asBytes = { typeMapping: { 36: Buffer } };

const connectMilliseconds = 5_000;
/** A server that answers nothing for this long is taken to be gone. */
const silentMilliseconds = 10_000;
const lookMilliseconds = 1_000;

/**
 * A connection to one server. It is never opened again once it has ended, and no command is ever sent twice: each gets an answer
 * or fails.
 */
export class Connection {
  /** Commands that wait for their answer. */
  underWay = 0;
  ended = false;
  readonly #client: RedisClientLike;
  readonly #onEnd: () => void;
  readonly #watch: NodeJS.Timeout;
  #answeredAt = performance.now();
  #replicated: Promise<number> | undefined;

  private constructor(client: RedisClientLike, onEnd: () => void) {
    this.#client = client;
    this.#onEnd = onEnd;
    this.#watch = setInterval(() => this.#lookForAnswers(), lookMilliseconds);
    this.#watch.unref();
  }

  static async open(access: Access, host: Host, onEnd: () => void): Promise<Connection> {
    const client = clientFor(access, host);
    let connection: Connection | undefined;
    let failed: unknown;
    client.on("error", (error) => {
      failed = error;
      connection?.close();
    });
    client.on("end", () => connection?.close());
    try {
      await client.connect();
    } catch (cause) {
      throw notConnected(failed ?? cause);
    }
    connection = new Connection(client, onEnd);
    return connection;
  }

  async send(args: readonly Argument[]): Promise<unknown> {
    if (this.ended) throw new ServerFailure(new Error("the connection has ended"), false, true);
    if (this.underWay === 0) this.#answeredAt = performance.now();
    this.underWay += 1;
    try {
      return await this.#client.sendCommand(args, asBytes);
    } catch (cause) {
      throw notAnswered(cause);
    } finally {
      this.underWay -= 1;
      this.#answeredAt = performance.now();
    }
  }

  /** Runs commands as one: all of them see one moment. */
  async transaction(commands: readonly (readonly Argument[])[]): Promise<readonly unknown[]> {
    // All are sent before anything is awaited, so that no other command comes between them.
    const queued = [["MULTI"], ...commands].map((args) => this.send(args));
    const executed = this.send(["EXEC"]);
    const outcomes = await Promise.allSettled([...queued, executed]);
    // A command that is refused says why; EXEC then only that one was.
    for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
    const answers = (await executed) as readonly unknown[];
    for (const answer of answers) if (answer instanceof Error) throw notAnswered(answer);
    return answers;
  }

  /** Resolves to how many replicas have everything that was written on this connection; commits that end together ask once. */
  replicated(replicas: number, milliseconds: number): Promise<number> {
    this.#replicated ??= new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
      this.#replicated = undefined;
      return this.send(["WAIT", String(replicas), String(milliseconds)]) as Promise<number>;
    });
    return this.#replicated;
  }

  subscribe(channel: string, listener: () => void): Promise<unknown> {
    return this.#client.subscribe(channel, listener);
  }

  close(): void {
    if (this.ended) return;
    this.ended = true;
    clearInterval(this.#watch);
    try {
      this.#client.destroy();
    } catch {
      // It has ended by itself.
    }
    this.#onEnd();
  }

  #lookForAnswers(): void {
    if (this.underWay > 0 && performance.now() - this.#answeredAt > silentMilliseconds) this.close();
  }
}

/** Makes a client that neither reconnects nor keeps commands for later: an answer that was lost must be known to be lost. */
function clientFor({ driver, address, tls }: Access, { host, port }: Host): RedisClientLike {
  const { username, password, database } = address;
  return driver.createClient({
    RESP: 2,
    disableOfflineQueue: true,
    disableClientInfo: true,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(database !== 0 && { database }),
    socket: {
      host,
      port,
      reconnectStrategy: false,
      connectTimeout: connectMilliseconds,
      ...(address.tls && { tls: true, ...tls }),
    },
  });
}
