import pg from "pg";
import { bigints, integers, texts } from "../../src/backends/postgres/arrays.ts";

const meta = `1j00000000${JSON.stringify({ version: 16, thread: "measured-thread", createdAt: 1, sealed: 960, rootSealed: 960 })}`;

/**
 * The rows of many threads in grouped statements that also check and lock the record of each thread, by hand: all that is
 * sent is ready, nothing but the rows is made.
 */
export class LeanWaves {
  readonly #pool: pg.Pool;
  readonly #text: string;
  readonly #groups: readonly number[];
  #seq = 0;

  private constructor(url: string, schema: string, threads: number, connections: number) {
    this.#pool = new pg.Pool({ connectionString: url, max: connections });
    this.#pool.on("error", () => {});
    this.#groups = Array.from({ length: threads }, (_, thread) => thread + 1);
    this.#text = `insert into "${schema}".tail (tape, item, value)
      select case when m.held then o.tape end, o.item, o.value
      from (select unnest($1::int4[]) as tape, unnest($2::int8[]) as item, unnest($3::text[]) as value, unnest($4::text[]) as expected) o
      left join lateral (
        select true as held from "${schema}".meta where tape = o.tape and value = o.expected for no key update
      ) m on true`;
  }

  static async create(url: string, schema: string, threads: number, connections: number): Promise<LeanWaves> {
    const waves = new LeanWaves(url, schema, threads, connections);
    await waves.#pool.query(`create schema "${schema}"`);
    await waves.#pool.query(`create table "${schema}".meta (tape int4 primary key, value text)`);
    await waves.#pool.query(
      `create table "${schema}".tail (tape int4, item int8, value text, primary key (tape, item))`,
    );
    for (const table of ["meta", "tail"])
      await waves.#pool.query(`alter table "${schema}".${table} alter column value set storage external`);
    for (const tape of waves.#groups)
      await waves.#pool.query(`insert into "${schema}".meta values ($1, $2)`, [tape, meta]);
    return waves;
  }

  /** A row of each thread, so many in a statement. */
  async put(rows: readonly string[], grouped: number): Promise<void> {
    this.#seq += 1;
    const statements: Promise<unknown>[] = [];
    for (let start = 0; start < rows.length; start += grouped) {
      const part = this.#groups.slice(start, start + grouped);
      const items = bigints(part.map(() => this.#seq));
      const values = [integers(part), items, texts(rows.slice(start, start + grouped)), texts(part.map(() => meta))];
      statements.push(this.#pool.query({ name: `lean-${grouped}`, text: this.#text, values }));
    }
    await Promise.all(statements);
  }

  close(): Promise<void> {
    return this.#pool.end();
  }
}
