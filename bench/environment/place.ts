import { rmSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { makeFolder, removeFolder } from "../../test/support/temporary-folder.ts";
import type { Home } from "../systems/system.ts";

/** Where a part keeps its data: a folder of its own, removed at the end, and the run's Postgres server. */
export class Place {
  readonly #path: string = makeFolder();
  readonly #server: () => Promise<string>;
  #count = 0;
  #client: Promise<pg.Client> | undefined;

  /** `server`: the url of a Postgres server, which is started when it is first asked for. */
  constructor(server: () => Promise<string>) {
    this.#server = server;
  }

  /** A new path in the folder: nothing is there yet. */
  path(name: string): string {
    this.#count += 1;
    return join(this.#path, `${name.replaceAll(/\W+/g, "-")}-${this.#count}`);
  }

  /** A new home for a system. Pages of a SQLite file are not synced at every commit, unless `fsync` says so. */
  async home(kind: "none" | "memory" | "file" | "SQLite" | "Postgres", fsync: Home["fsync"] = "normal"): Promise<Home> {
    const path = this.path(kind);
    if (kind !== "Postgres") return { path, fsync, url: "", schema: "" };
    return { path, fsync, url: await this.postgres(), schema: `bench_${this.#count}` };
  }

  postgres(): Promise<string> {
    return this.#server();
  }

  /** A connection of the benchmark's own, to look at sizes with. */
  async client(): Promise<pg.Client> {
    this.#client ??= (async () => {
      const client = new pg.Client({ connectionString: await this.postgres() });
      await client.connect();
      return client;
    })();
    return this.#client;
  }

  /** Gives the room of a home back. */
  async clear({ path, schema }: Home): Promise<void> {
    for (const suffix of ["", "-wal", "-shm"]) rmSync(path + suffix, { recursive: true, force: true });
    if (schema !== "") await (await this.client()).query(`drop schema if exists "${schema}" cascade`);
  }

  async remove(): Promise<void> {
    await (await this.#client)?.end();
    removeFolder(this.#path);
  }
}
