import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "redis";
import { makeFolder, removeFolder } from "../temporary-folder.ts";

const running = new Set<ChildProcess>();
process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/** The server to test with: another version's, or Valkey's, where a path is given. */
const program = process.env.THREADMARK_TEST_REDIS ?? "redis-server";

/** Installs Debian's `redis-server` if it is missing; its `redis-cli` makes the clusters of any server. */
function installed(): void {
  if (spawnSync("redis-server", ["--version"]).status === 0) return;
  try {
    execFileSync("apt-get", ["update", "-q"], { stdio: "pipe" });
    execFileSync("apt-get", ["install", "-y", "-q", "redis-server"], { stdio: "pipe" });
  } catch (cause) {
    throw new Error("redis-server is missing and cannot be installed with apt-get: Redis cannot be tested.", { cause });
  }
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { readonly port: number };
      server.close(() => resolve(port));
    });
  });
}

/** Returns a port for a server of a cluster: the one ten thousand above it is free too, for its bus. */
export async function freeClusterPort(): Promise<number> {
  for (;;) {
    const port = await freePort();
    if (port + BUS <= 65_535 && (await isFree(port + BUS))) return port;
  }
}

const BUS = 10_000;

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}

/** A server on this machine, which a test may kill and start again on its port. */
export class TestServer {
  readonly port: number;
  readonly #arguments: readonly string[];
  /** The folder that the server writes its files into. */
  readonly folder: string = makeFolder();
  #child: ChildProcess | undefined;

  constructor(port: number, given: readonly string[]) {
    installed();
    this.port = port;
    this.#arguments = given;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Starts a sentinel with a configuration file, which it writes to. */
  static async sentinel(port: number, configuration: string): Promise<TestServer> {
    const sentinel = new TestServer(port, []);
    await sentinel.#run([configuration, "--sentinel", "--port", String(port), "--bind", "127.0.0.1"]);
    return sentinel;
  }

  async start(): Promise<this> {
    const settings = ["--port", String(this.port), "--bind", "127.0.0.1", "--dir", this.folder, "--save", ""];
    await this.#run([...settings, "--appendonly", "yes", "--appendfsync", "no", ...this.#arguments]);
    return this;
  }

  async #run(given: readonly string[]): Promise<void> {
    const child = spawn(program, given, { stdio: "ignore" });
    running.add(child);
    child.once("exit", () => running.delete(child));
    this.#child = child;
    await this.ready();
  }

  async ready(): Promise<void> {
    for (let tries = 0; tries < 500; tries++) {
      try {
        if ((await this.command("PING")) === "PONG") return;
      } catch (error) {
        if (/NOAUTH|SSL|closed unexpectedly|ECONNRESET/.test(String(error))) return;
      }
      await sleep(20);
    }
    throw new Error(`${program} does not answer at ${this.port}`);
  }

  /** Sends a command on a connection of its own. */
  async command(...args: readonly string[]): Promise<unknown> {
    const client = createClient({
      socket: { host: "127.0.0.1", port: this.port, reconnectStrategy: false, connectTimeout: 2000 },
      RESP: 2,
    });
    client.on("error", () => {});
    await client.connect();
    try {
      return await client.sendCommand([...args]);
    } finally {
      client.destroy();
    }
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  /** Ends the server as a crash does. */
  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await ended;
  }

  async remove(): Promise<void> {
    await this.kill();
    removeFolder(this.folder);
  }
}

export async function startServer(...given: readonly string[]): Promise<TestServer> {
  return new TestServer(await freePort(), given).start();
}
