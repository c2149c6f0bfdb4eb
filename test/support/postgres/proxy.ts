import type { AddressInfo, Server, Socket } from "node:net";
import { connect, createServer } from "node:net";

/** Stands between a client and the server, and loses what it is told to lose. */
export class Proxy {
  readonly #server: Server;
  #target: URL;
  readonly #pairs = new Set<readonly [client: Socket, server: Socket]>();
  #next: "answer" | "question" | undefined;
  #command: string | undefined;
  /** How often something was lost. */
  lost = 0;

  private constructor(target: string) {
    this.#target = new URL(target);
    this.#server = createServer((client) => this.#join(client));
  }

  static async before(target: string): Promise<Proxy> {
    const proxy = new Proxy(target);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get url(): string {
    const url = new URL(this.#target);
    url.host = `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return url.href;
  }

  /** The next statement reaches the server, its answer does not come back, and the connection is gone. */
  loseAnswer(): void {
    this.#next = "answer";
  }

  /** The next command of this text reaches the server, its answer does not come back, and the connection is gone. */
  loseAnswerTo(command: string): void {
    this.#command = command;
  }

  /** The next statement is lost on its way, and the connection is gone. */
  loseQuestion(): void {
    this.#next = "question";
  }

  /** Sends new connections elsewhere, as an address that moves does, and cuts the others. */
  moveTo(target: string): void {
    this.#target = new URL(target);
    for (const pair of this.#pairs) for (const socket of pair) socket.destroy();
  }

  /** The clients' side of every connection breaks; the server does not notice yet. */
  cutClients(): void {
    for (const [client] of this.#pairs) client.destroy();
  }

  async close(): Promise<void> {
    for (const pair of this.#pairs) for (const socket of pair) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #join(client: Socket): void {
    const server = connect(Number(this.#target.port), this.#target.hostname);
    const pair = [client, server] as const;
    this.#pairs.add(pair);
    let losing = false;
    client.on("data", (data) => {
      // A connection starts without a statement in it; 0x42 is the Bind of a prepared one, 0x50 the Parse of a new one.
      const isStatement = data[0] === 0x42 || data[0] === 0x50;
      const isCommand = data[0] === 0x51 && data.toString("utf8", 5, data.length - 1) === this.#command;
      if (isCommand) {
        losing = true;
        this.lost++;
        this.#command = undefined;
        server.write(data);
      } else if (this.#next !== undefined && isStatement) {
        losing = true;
        this.lost++;
        if (this.#next === "question") client.destroy();
        else server.write(data);
        this.#next = undefined;
      } else server.write(data);
    });
    server.on("data", (data) => {
      if (losing) client.destroy();
      else if (!client.destroyed) client.write(data);
    });
    for (const socket of pair) socket.on("error", () => {});
    server.on("close", () => {
      client.destroy();
      this.#pairs.delete(pair);
    });
  }
}
