import pg from "pg";
import { bigints, integers, texts } from "../../src/backends/postgres/writing/arrays.ts";
import { createValueCodec } from "../../src/codec/values/value.ts";
import type { Talk } from "../workloads/prepared-conversation.ts";
import { recordOf, wrapped } from "./put.ts";

const meta = `1j00000000${JSON.stringify({ version: 16, thread: "measured-thread", createdAt: 1, sealed: 960, rootSealed: 960 })}`;

/** The steps that no wave of puts can do without, each measured with all steps before it. */
export const waveSteps = [
  "the check and lock of each thread's record, 32 rows a statement, all of it ready-made",
  "the record in the place of its change, its JSON and CRC-32",
  "the walk that refuses what cannot be stored, and the copy",
  "a promise for each put",
] as const;

const grouped = 32;

/**
 * The rows of many threads in grouped statements that also check and lock the record of each thread, by hand. A statement
 * is sent while the rows of the next are made.
 */
export class LeanWaves {
  readonly #pool: pg.Pool;
  readonly #clients: readonly pg.PoolClient[];
  readonly #text: string;
  readonly #groups: readonly number[];
  readonly #codec = createValueCodec();
  #seq = 0;

  private constructor(pool: pg.Pool, clients: readonly pg.PoolClient[], schema: string, threads: number) {
    this.#pool = pool;
    this.#clients = clients;
    this.#groups = Array.from({ length: threads }, (_, thread) => thread + 1);
    this.#text = `insert into "${schema}".tail (tape, item, value)
      select case when m.held then o.tape end, o.item, o.value
      from (select unnest($1::int4[]) as tape, unnest($2::int8[]) as item, unnest($4::text[]) as value, unnest($3::text[]) as expected) o
      left join lateral (
        select true as held from "${schema}".meta where tape = o.tape and value = o.expected for no key update
      ) m on true`;
  }

  static async create(url: string, schema: string, threads: number): Promise<LeanWaves> {
    const pool = new pg.Pool({ connectionString: url, max: threads / grouped });
    pool.on("error", () => {});
    const clients = await Promise.all(Array.from({ length: threads / grouped }, () => pool.connect()));
    const waves = new LeanWaves(pool, clients, schema, threads);
    const client = clients[0] as pg.PoolClient;
    await client.query(`create schema "${schema}"`);
    await client.query(`create table "${schema}".meta (tape int4 primary key, value text)`);
    await client.query(`create table "${schema}".tail (tape int4, item int8, value text, primary key (tape, item))`);
    for (const table of ["meta", "tail"])
      await client.query(`alter table "${schema}".${table} alter column value set storage external`);
    for (const tape of waves.#groups) await client.query(`insert into "${schema}".meta values ($1, $2)`, [tape, meta]);
    return waves;
  }

  /** A row of each thread; does the first so many of {@link waveSteps}. */
  async put(talks: readonly Talk[], steps: number): Promise<void> {
    this.#seq += 1;
    const told: Promise<void>[] = [];
    const sent: Promise<unknown>[] = [];
    for (const [part, client] of this.#clients.entries()) {
      const own = talks.slice(part * grouped, (part + 1) * grouped);
      const rows = own.map((talk) => this.#rowOf(talk, steps));
      const groups = this.#groups.slice(part * grouped, (part + 1) * grouped);
      const items = bigints(groups.map(() => this.#seq));
      const values = [integers(groups), items, texts(groups.map(() => meta)), texts(rows)];
      const done = client.query({ name: "lean", text: this.#text, values });
      sent.push(done);
      if (steps >= 4) for (const _ of own) told.push(done.then(() => undefined));
    }
    await Promise.all(sent);
    await Promise.all(told);
  }

  #rowOf({ ready: { update, changed } }: Talk, steps: number): string {
    if (steps < 2) return changed;
    const change = steps < 3 ? update : this.#codec.encode(update, "update").tree;
    return wrapped(recordOf(this.#seq, JSON.stringify(change)));
  }

  close(): Promise<void> {
    for (const client of this.#clients) client.release();
    return this.#pool.end();
  }
}
