import type { ClientLike } from "../connection/pool.ts";

/** Milliseconds between two calls while no notifications arrive: as behind a pooler, or while a connection is made. */
const pollMilliseconds = 25;

/** Milliseconds between two calls while nothing is committed, for connections that are lost without a word. */
const restMilliseconds = 1000;

/** Milliseconds after a notification in which others may commit without another: see {@link Notices}. */
const busyMilliseconds = 4000;

/** Milliseconds for a notification to arrive that the listener sends itself. */
const echoMilliseconds = 1000;

/** Milliseconds before another connection is tried. */
const retryMilliseconds = 5000;

/** A client of `pg` that passes notifications on. */
interface ListeningClient extends ClientLike {
  on(event: "error" | "end" | "notification", listener: (subject: unknown) => void): unknown;
}

/**
 * Calls back when others may have committed. Listens on a connection of its own; where notifications do not arrive there, since a pooler
 * hands the connection's statements to different servers, it calls back every 25 milliseconds instead.
 */
export class Listener {
  readonly #take: () => Promise<ClientLike>;
  readonly #channel: string;
  readonly #tell: () => void;
  #client: ListeningClient | undefined;
  /** True once a notification has arrived on the present connection. */
  #isHeard = false;
  /** Until when there may be commits without a notification. */
  #busyUntil = 0;
  #timer: NodeJS.Timeout | undefined;
  #retry: NodeJS.Timeout | undefined;
  #stopped = false;

  /** Takes a function that makes a connection. */
  constructor(take: () => Promise<ClientLike>, channel: string, tell: () => void) {
    this.#take = take;
    this.#channel = channel;
    this.#tell = tell;
    this.#look();
    void this.#connect();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#retry);
    this.#leave();
  }

  #look(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(
      () => {
        this.#look();
        this.#tell();
      },
      this.#isHeard && performance.now() > this.#busyUntil ? restMilliseconds : pollMilliseconds,
    );
  }

  async #connect(): Promise<void> {
    let client: ListeningClient | undefined;
    try {
      client = (await this.#take()) as ListeningClient;
      this.#client = client;
      const lost = (): void => this.#lost(client as ListeningClient);
      client.on("error", lost);
      client.on("end", lost);
      client.on("notification", () => this.#heard());
      await client.query({ text: `listen ${this.#channel}` });
      await client.query({ text: `notify ${this.#channel}` });
      if (this.#stopped) this.#leave();
      // Without an answer the connection is of no use. It is tried again: the pooler may be gone by then.
      else this.#retry = setTimeout(() => this.#isHeard || this.#lost(client as ListeningClient), echoMilliseconds);
    } catch {
      if (client) this.#lost(client);
      else this.#tryAgain();
    }
  }

  #heard(): void {
    if (this.#stopped) return;
    this.#isHeard = true;
    this.#busyUntil = performance.now() + busyMilliseconds;
    this.#look();
    this.#tell();
  }

  #lost(client: ListeningClient): void {
    if (this.#client !== client) return;
    this.#leave();
    if (this.#stopped) return;
    this.#look();
    this.#tell();
    this.#tryAgain();
  }

  #tryAgain(): void {
    if (this.#stopped) return;
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => void this.#connect(), retryMilliseconds);
  }

  /** Gives the connection up. It is closed, since its session listens. */
  #leave(): void {
    const client = this.#client;
    this.#client = undefined;
    this.#isHeard = false;
    client?.release(true);
  }
}
