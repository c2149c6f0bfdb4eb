import pg from "pg";
import type { PoolLike } from "../../../../src/backends/postgres/index.ts";

/** A real pool that writes down the statements that went through it, and how many connections are out. */
export class CountingPool implements PoolLike {
  readonly statements: string[] = [];
  readonly pool: pg.Pool;
  out = 0;

  constructor(config: pg.PoolConfig) {
    this.pool = new pg.Pool(config);
  }

  async connect(): Promise<pg.PoolClient> {
    const client = await this.pool.connect();
    this.out++;
    const { statements } = this;
    const release = client.release.bind(client);
    const query = client.query.bind(client) as (config: pg.QueryConfig) => Promise<unknown>;
    Object.assign(client, {
      query(config: pg.QueryConfig) {
        statements.push(config.text);
        return query(config);
      },
      release: (destroy?: boolean | Error) => {
        this.out--;
        delete (client as Partial<pg.PoolClient>).query;
        release(destroy);
      },
    });
    return client;
  }

  /** The statements of one piece of work. */
  async during(work: () => Promise<unknown>): Promise<readonly string[]> {
    const before = this.statements.length;
    await work();
    return this.statements.slice(before);
  }

  on(event: "error", listener: (error: Error) => void): this {
    this.pool.on(event, listener);
    return this;
  }

  removeListener(event: "error", listener: (error: Error) => void): this {
    this.pool.removeListener(event, listener);
    return this;
  }

  end(): Promise<void> {
    return this.pool.end();
  }
}
