import type { Connection } from "./connection/connection.ts";
import type { Servers } from "./connection/servers.ts";
import { slotOf } from "./crc16.ts";

/** Milliseconds between two messages of a store to its listeners. */
const tellMilliseconds = 10;
/** Listeners look by themselves this often, since the message of a process that was killed may be missing. */
const lookMilliseconds = 1_000;
/** Listeners of other processes look by themselves if a message is lost: closing does not wait for it longer than this. */
const closeMilliseconds = 200;
/** While no connection listens, they look this often. */
const deafMilliseconds = 25;

/** Tells other processes of commits, by a message on a channel, and hears of theirs. */
export class Hearing {
  readonly #servers: Servers;
  readonly #channel: string;
  #toldAt = Number.NEGATIVE_INFINITY;
  #telling: NodeJS.Timeout | undefined;
  #sent: Promise<unknown> = Promise.resolve();

  constructor(servers: Servers, prefix: string) {
    this.#servers = servers;
    this.#channel = `${prefix}:commits`;
  }

  /** Tells others that there are commits: at once, or shortly after the last time. */
  tell(): void {
    if (this.#telling !== undefined) return;
    const wait = this.#toldAt + tellMilliseconds - performance.now();
    if (wait <= 0) this.#send();
    else {
      this.#telling = setTimeout(() => {
        this.#telling = undefined;
        this.#send();
      }, wait);
      this.#telling.unref();
    }
  }

  /** Sends what is still to be told, if the server answers within a moment. */
  async close(): Promise<void> {
    if (this.#telling !== undefined) {
      clearTimeout(this.#telling);
      this.#telling = undefined;
      this.#send();
    }
    const late = new Promise<void>((resolve) => setTimeout(resolve, closeMilliseconds).unref());
    await Promise.race([this.#sent, late]);
  }

  /** Calls back whenever others may have committed, until the returned function is called. */
  listen(tell: () => void): () => void {
    let stopped = false;
    let connection: Connection | undefined;
    let connecting = false;
    let looked = performance.now();
    const connect = async (): Promise<void> => {
      connecting = true;
      try {
        const opened = await this.#servers.alone(() => {
          connection = undefined;
        });
        await opened.subscribe(this.#channel, tell);
        if (stopped) opened.close();
        else connection = opened;
      } catch {
        // Listeners look by themselves until the server is back.
      }
      connecting = false;
      tell();
    };
    void connect();
    const timer = setInterval(() => {
      const now = performance.now();
      if (connection === undefined) {
        if (!connecting && now - looked > lookMilliseconds) void connect();
        else tell();
      }
      if (now - looked < lookMilliseconds) return;
      looked = now;
      tell();
    }, deafMilliseconds);
    return () => {
      stopped = true;
      clearInterval(timer);
      connection?.close();
    };
  }

  #send(): void {
    this.#toldAt = performance.now();
    // Whether anybody hears it does not matter to the commit.
    this.#sent = this.#servers
      .at(slotOf(this.#channel), (link) => link.send(["PUBLISH", this.#channel, ""]))
      .catch(() => {});
  }
}
