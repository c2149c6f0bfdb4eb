import { createClient } from "redis";
import type { RedisClientLike } from "../../src/backends/redis/index.ts";
import { open, type Store } from "../../src/index.ts";
import { TestCluster } from "../../test/support/redis/cluster.ts";
import { startServer, type TestServer } from "../../test/support/redis/server.ts";
import { compare } from "../harness/compare.ts";
import type { Context, Part } from "../harness/context.ts";
import type { Cell } from "../harness/report.ts";
import { StoredTalk, Talk, warmUpdates } from "../workloads/prepared-conversation.ts";
import type { State } from "../workloads/workload.ts";

const threads = 64;

type Rows = Cell[][];

/** A plain connection of the same driver. */
class RawRedis {
  readonly #client: RedisClientLike;
  #count = 0;

  private constructor(client: RedisClientLike) {
    this.#client = client;
  }

  static async connect(url: string): Promise<RawRedis> {
    const client = createClient({ url }) as unknown as RedisClientLike;
    await client.connect();
    return new RawRedis(client);
  }

  send(...args: readonly string[]): Promise<unknown> {
    return this.#client.sendCommand([...args]);
  }

  /** Writes a change as a field of a hash. */
  set(value: string): Promise<unknown> {
    this.#count += 1;
    return this.send("HSET", "raw", String(this.#count), value);
  }

  close(): void {
    this.#client.destroy();
  }
}

async function single(
  { report, quick }: Context,
  rows: Rows,
  store: Store<State>,
  raw: RawRedis,
  [name, limit]: readonly [name: string, limit: number],
): Promise<void> {
  const talk = await StoredTalk.begin(store, "one", 200);
  const aside = new Talk();
  const found = await compare(
    { rounds: quick ? 4 : 12, batch: 8, turns: 8 },
    () => talk.putUpdate(),
    () => raw.set(aside.ready.changed),
    (side) => (side === "ours" ? talk : aside).prepare(),
  );
  await talk.check();
  rows.push([
    `${name}: put({ update })`,
    "HSET of the change",
    found.ours.p50 * 1_000,
    found.other.p50 * 1_000,
    found.p50,
  ]);
  report.target(`${name}: put({ update }) against a raw HSET with the same sync, p50`, found.p50, limit);
}

async function many({ report, quick }: Context, rows: Rows, store: Store<State>, raw: RawRedis): Promise<void> {
  const talks: StoredTalk[] = [];
  for (let index = 0; index < threads; index += 1) talks.push(await StoredTalk.begin(store, `t${index}`, 1));
  const asides = talks.map(() => new Talk());
  const found = await compare(
    { rounds: quick ? 4 : 12, warmUp: quick ? 4 : 24, batch: 2, turns: 4 },
    () => Promise.all(talks.map((talk) => talk.putUpdate())),
    () => Promise.all(asides.map((talk) => raw.set(talk.ready.changed))),
    (side) => {
      for (const talk of side === "ours" ? talks : asides) talk.prepare();
    },
  );
  for (const talk of talks.slice(0, 4)) await talk.check();
  rows.push([
    `${threads} threads at once`,
    "pipelined HSETs",
    found.ours.p50 * 1_000,
    found.other.p50 * 1_000,
    found.p50,
  ]);
  report.target("Redis: commits a second of 64 threads against raw pipelined writes", 1 / found.p50, 0.4, {
    least: true,
  });
}

/** A state of about 600 KB, read by a store that was opened just now, against one text of the same state. */
async function latest({ report, quick }: Context, rows: Rows, url: string, raw: RawRedis): Promise<void> {
  let store = await open<State>(url, { prefix: "latest" });
  let talk = await StoredTalk.begin(store, "long", 1_230);
  const text = JSON.stringify(talk.state);
  await raw.send("SET", "whole", text);
  const found = await compare(
    { rounds: quick ? 4 : 12, warmUp: 4, batch: 2, turns: 2 },
    () => talk.thread.latest(),
    async () => JSON.parse(String(await raw.send("GET", "whole"))) as unknown,
    async (side) => {
      if (side === "other") return;
      await store.close();
      store = await open<State>(url, { prefix: "latest" });
      talk = talk.on(store);
      // Connects, and reads nothing of the thread.
      await store.thread("another").latest();
    },
  );
  await talk.check();
  await store.close();
  const name = `latest of ${(text.length / 1_000).toFixed(0)} KB in a store opened just now`;
  rows.push([name, "GET and JSON.parse", found.ours.p50 * 1_000, found.other.p50 * 1_000, found.p50]);
  report.target("Redis: latest of 600 KB against GET and JSON.parse, p50", found.p50, 1.7);
}

/** Returns the bytes that the keys of a store take in the server's memory. */
async function memoryOf(server: TestServer, prefix: string): Promise<number> {
  let bytes = 0;
  for (const key of (await server.command("KEYS", `{${prefix}:*`)) as readonly string[]) {
    bytes += Number(await server.command("MEMORY", "USAGE", key, "SAMPLES", "0"));
  }
  return bytes;
}

async function memory({ report, quick }: Context, server: TestServer): Promise<void> {
  const store = await open<State>(server.url, { prefix: "memory" });
  const steps = quick ? 1_000 : 4_000;
  const first = await StoredTalk.begin(store, "warm", 100);
  await first.check();
  const before = await memoryOf(server, "memory");
  const talk = await StoredTalk.begin(store, "measured", 0);
  let changed = 0;
  for (let step = 0; step < steps; step += 1) {
    talk.prepare();
    changed += talk.ready.changed.length;
    await talk.putUpdate();
  }
  await store.close();
  report.target(
    "Redis: memory of a step against its change",
    ((await memoryOf(server, "memory")) - before) / changed,
    1.3,
  );
}

/** A Redis server and a cluster of this machine. LangGraph's Redis saver is not measured: it needs the modules RediSearch and RedisJSON. */
export const redis: Part = {
  name: "redis",
  title: "Redis: one server, and a cluster of three masters",
  async run(context) {
    const rows: Rows = [];
    const server = await startServer("--appendfsync", "everysec");
    try {
      const raw = await RawRedis.connect(server.url);
      const store = await open<State>(server.url);
      await warmUpdates(store);
      await single(context, rows, store, raw, ["Redis", 1.6]);
      await many(context, rows, store, raw);
      await store.close();
      await latest(context, rows, server.url, raw);
      await memory(context, server);
      raw.close();
    } finally {
      await server.remove();
    }
    const cluster = await TestCluster.start(60_000, "--appendfsync", "everysec");
    try {
      const { masters } = await cluster.roles();
      const [first] = masters;
      const raw = await RawRedis.connect((await holderOf(masters, "raw")) ?? (first as TestServer).url);
      const store = await open<State>(cluster.url);
      await single(context, rows, store, raw, ["Redis Cluster", 2]);
      await store.close();
      raw.close();
    } finally {
      await cluster.remove();
    }
    context.report.table(
      "medians of one server with appendfsync everysec",
      [
        { title: "" },
        { title: "against" },
        { title: "ours", unit: "µs" },
        { title: "theirs", unit: "µs" },
        { title: "ratio", unit: "×" },
      ],
      rows,
    );
  },
};

/** Returns the url of the server that has the slot of a key. */
async function holderOf(masters: readonly TestServer[], key: string): Promise<string | undefined> {
  for (const server of masters) {
    const isHeld = await server.command("HSET", key, "0", "").then(
      () => true,
      () => false,
    );
    if (isHeld) return server.url;
  }
  return undefined;
}
