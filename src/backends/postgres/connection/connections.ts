import { ServerFailure } from "../../shared/failure.ts";
import { notConnected } from "./failure.ts";
import type { ClientLike, PoolLike } from "./pool.ts";

/** Milliseconds for which a connection of the backend's own pool is kept after a statement. */
const keptMilliseconds = 50;

const ignore = (): void => {};

/** Ignores errors of a new connection, which may fail in the very turn in which it was made, before its user has it. */
const listenToClient = (client: ClientLike): unknown => client.on("error", ignore);

/**
 * The shared state of a pool's users. A listener for each user would be too many for a pool that hundreds of stores
 * share.
 */
interface Heard {
  users: number;
  /** The number of lost connections. */
  interruptions: number;
  readonly listener: () => void;
}

const pools = new WeakMap<PoolLike, Heard>();

function newlyHeard(): Heard {
  const listener = (): void => {
    heard.interruptions += 1;
  };
  const heard: Heard = { users: 0, interruptions: 0, listener };
  return heard;
}

/**
 * Listens to a pool: an idle connection reports its failure by an event, which would end the process if nothing
 * listened.
 */
function listenTo(pool: PoolLike): Heard {
  const heard = pools.get(pool) ?? newlyHeard();
  pools.set(pool, heard);
  heard.users += 1;
  if (heard.users === 1) {
    pool.on("error", heard.listener);
    pool.on("connect", listenToClient);
  }
  return heard;
}

function leave(pool: PoolLike, heard: Heard): void {
  heard.users -= 1;
  if (heard.users > 0) return;
  pool.removeListener("error", heard.listener);
  pool.removeListener("connect", listenToClient);
}

/**
 * Provides the connections that statements run on. Connections of the backend's own pool are kept for a while: the pool
 * gives one out only after everything else in the turn, while a statement sent at once is processed as the next one is
 * being made. Connections of a pool passed in go back after every statement, since others may wait for them.
 */
export class Connections {
  readonly #pool: PoolLike;
  readonly #ours: boolean;
  readonly #patience: number;
  readonly #heard: Heard;
  #waiting = 0;
  #kept: ClientLike[] = [];
  #timer: NodeJS.Timeout | undefined;
  /** The failure listeners of connections in use or kept. */
  readonly #listeners = new Map<ClientLike, () => void>();

  /** Takes the milliseconds, `patience`, to wait for a connection. */
  constructor(pool: PoolLike, ours: boolean, patience: number) {
    this.#pool = pool;
    this.#ours = ours;
    this.#patience = patience;
    this.#heard = listenTo(pool);
  }

  /**
   * Returns the number of lost connections: records read over them may be gone, together with the server that held
   * them.
   */
  get interruptions(): number {
    return this.#heard.interruptions;
  }

  /** Returns a connection, synchronously if one is kept. Rejects with a {@link ServerFailure}. */
  take(): ClientLike | Promise<ClientLike> {
    return this.#kept.pop() ?? this.#connect();
  }

  /** Takes a connection back after a statement. */
  giveBack(client: ClientLike, broken: boolean | Error): void {
    if (broken !== false) this.#heard.interruptions += 1;
    if (broken !== false || !this.#ours || this.#waiting > 0) {
      this.#release(client, broken);
      return;
    }
    this.#kept.push(client);
    this.#timer ??= setTimeout(() => this.#releaseKept(), keptMilliseconds).unref();
  }

  /** Closes the backend's own pool; a pool that was passed in stays open. */
  async end(): Promise<void> {
    this.#releaseKept();
    // The backend's own pool keeps its listener: connections that are being closed may still fail.
    if (this.#ours) await this.#pool.end();
    else leave(this.#pool, this.#heard);
  }

  #releaseKept(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const client of this.#kept.splice(0)) this.#release(client, false);
  }

  #release(client: ClientLike, broken: boolean | Error): void {
    const listener = this.#listeners.get(client);
    // A broken connection may fail once more, and is not used again.
    if (listener && broken === false) client.removeListener("error", listener);
    this.#listeners.delete(client);
    client.release(broken);
  }

  /** Releases a connection that fails while it is kept. In use, the failure reaches the statement. */
  #failed(client: ClientLike): void {
    const index = this.#kept.indexOf(client);
    if (index < 0) return;
    this.#kept.splice(index, 1);
    this.#heard.interruptions += 1;
    this.#release(client, true);
  }

  /**
   * Connects within `patience`, since a pool passed in may wait for ever. A connection that comes too late is released
   * at once.
   */
  #connect(): Promise<ClientLike> {
    return new Promise((resolve, reject) => {
      let late = false;
      this.#waiting += 1;
      const timer = setTimeout(() => {
        late = true;
        this.#waiting -= 1;
        reject(new ServerFailure(new Error(`no connection became free within ${this.#patience} ms`), false, false));
      }, this.#patience);
      const settle = (): void => {
        if (!late) this.#waiting -= 1;
        clearTimeout(timer);
      };
      this.#pool.connect().then(
        (client) => {
          settle();
          if (late) return client.release();
          const listener = (): void => this.#failed(client);
          this.#listeners.set(client, listener);
          client.on("error", listener);
          resolve(client);
        },
        (cause) => {
          settle();
          reject(notConnected(cause));
        },
      );
    });
  }
}
