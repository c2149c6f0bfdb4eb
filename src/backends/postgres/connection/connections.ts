import { Failure, notConnected } from "./failure.ts";
import type { ClientLike, PoolLike } from "./pool.ts";

/** For how many milliseconds a connection of our own is kept at hand after a statement. */
const keptMilliseconds = 50;

const ignore = (): void => {};

/** A connection may fail in the very turn in which it was made, before whoever asked for it has it. */
const listenToClient = (client: ClientLike): unknown => client.on("error", ignore);

/** What is known of a pool, for all who use it. Listeners of each would be too many for one that hundreds of stores share. */
interface Heard {
  users: number;
  /** How many of its connections were lost. */
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

/** What fails while nobody uses it is told by an event; unheard, that ends the process. */
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
 * The connections that statements run on. Those of our own pool are kept at hand for a while: the pool gives one out only
 * after everything else in the turn, while a statement that is sent at once is worked on as the next one is being made. To
 * a pool that was passed in they go back after every statement: others may wait for them.
 */
export class Connections {
  readonly #pool: PoolLike;
  readonly #ours: boolean;
  readonly #patience: number;
  readonly #heard: Heard;
  #waiting = 0;
  #kept: ClientLike[] = [];
  #timer: NodeJS.Timeout | undefined;
  /** What listens for a connection's failure, from when it was had until it goes back. */
  readonly #listeners = new Map<ClientLike, () => void>();

  /** `patience`: how many milliseconds to wait for a connection. */
  constructor(pool: PoolLike, ours: boolean, patience: number) {
    this.#pool = pool;
    this.#ours = ours;
    this.#patience = patience;
    this.#heard = listenTo(pool);
  }

  /** How many connections were lost: what was read over them may be gone, with the server that had told it. */
  get interruptions(): number {
    return this.#heard.interruptions;
  }

  /** A connection: at once if one is at hand. Rejects with a {@link Failure}. */
  take(): ClientLike | Promise<ClientLike> {
    return this.#kept.pop() ?? this.#connect();
  }

  /** The statement is over. */
  giveBack(client: ClientLike, broken: boolean | Error): void {
    if (broken !== false) this.#heard.interruptions += 1;
    if (broken !== false || !this.#ours || this.#waiting > 0) {
      this.#release(client, broken);
      return;
    }
    this.#kept.push(client);
    this.#timer ??= setTimeout(() => this.#releaseKept(), keptMilliseconds).unref();
  }

  /** Closes our own pool; one that was passed in stays open. */
  async end(): Promise<void> {
    this.#releaseKept();
    // Our own pool keeps its listener: connections that are being closed may still fail.
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
    // One that is broken may fail once more, and is not used again.
    if (listener && broken === false) client.removeListener("error", listener);
    this.#listeners.delete(client);
    client.release(broken);
  }

  /** One that fails while it is kept is let go; one that fails in use tells the statement so. */
  #failed(client: ClientLike): void {
    const index = this.#kept.indexOf(client);
    if (index < 0) return;
    this.#kept.splice(index, 1);
    this.#heard.interruptions += 1;
    this.#release(client, true);
  }

  /** A pool passed in may wait for ever, so the bound is ours; a connection that comes too late goes straight back. */
  #connect(): Promise<ClientLike> {
    return new Promise((resolve, reject) => {
      let late = false;
      this.#waiting += 1;
      const timer = setTimeout(() => {
        late = true;
        this.#waiting -= 1;
        reject(new Failure(new Error(`no connection became free within ${this.#patience} ms`), false, false));
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
