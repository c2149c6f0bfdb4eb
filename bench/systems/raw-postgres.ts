import pg from "pg";
import { schemaBytes, walPosition } from "./sizes.ts";
import type { System } from "./system.ts";

/** The physical limit on Postgres: what changed, in one prepared insert. */
export function rawPostgres(client: () => Promise<pg.Client>): System {
  return {
    name: "raw insert of the change, Postgres",
    home: "Postgres",
    kind: "floor",
    wholeUpTo: 3_000,
    async open({ url, schema }) {
      const table = await RawPostgres.create(url, schema, 10);
      return {
        thread: () => ({
          begin: async (state) => void (await table.insert(JSON.stringify(state))),
          async step({ changed, tasks }) {
            await Promise.all((tasks ?? []).map((task) => table.insert(JSON.stringify(task))));
            await table.insert(changed);
          },
        }),
        async bytes() {
          await table.pool.query(`vacuum full "${schema}".raw`);
          return schemaBytes(await client(), schema);
        },
        written: async () => walPosition(await client()),
        close: () => table.close(),
      };
    },
  };
}

/** A table of rows by number, with prepared statements of the driver that the Postgres backend uses. */
export class RawPostgres {
  readonly pool: pg.Pool;
  readonly #table: string;
  readonly #one: string;
  #key = 0;

  private constructor(url: string, schema: string, connections: number) {
    this.pool = new pg.Pool({ connectionString: url, max: connections });
    // Connections that the pool is closing may see the server stop.
    this.pool.on("error", () => {});
    this.#table = `"${schema}".raw`;
    this.#one = `insert into ${this.#table} values ($1, $2)`;
  }

  static async create(url: string, schema: string, connections: number): Promise<RawPostgres> {
    const raw = new RawPostgres(url, schema, connections);
    await raw.pool.query(`create schema if not exists "${schema}"`);
    await raw.pool.query(`create table if not exists ${raw.#table} (key int8 primary key, body text)`);
    // As the Postgres backend keeps its values: compressing them costs more than it gives.
    await raw.pool.query(`alter table ${raw.#table} alter column body set storage external`);
    return raw;
  }

  async insert(body: string): Promise<number> {
    this.#key += 1;
    await this.pool.query({ name: "raw-one", text: this.#one, values: [this.#key, body] });
    return this.#key;
  }

  /** Rows of several threads in one statement. */
  async insertMany(bodies: readonly string[]): Promise<void> {
    const places = bodies.map((_, row) => `($${2 * row + 1}, $${2 * row + 2})`).join(", ");
    const values = bodies.flatMap((body) => {
      this.#key += 1;
      return [this.#key, body];
    });
    const text = `insert into ${this.#table} values ${places}`;
    await this.pool.query({ name: `raw-${bodies.length}`, text, values });
  }

  async select(key: number): Promise<string> {
    const text = `select body from ${this.#table} where key = $1`;
    const { rows } = await this.pool.query<{ body: string }>({ name: "raw-select", text, values: [key] });
    return (rows[0] as { body: string }).body;
  }

  close(): Promise<void> {
    return this.pool.end();
  }
}
