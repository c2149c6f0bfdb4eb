import { expect, test } from "vitest";
import { open } from "../../../src/index.ts";
import { fileServer, makeRedis } from "../../support/redis/places.ts";
import { startServer } from "../../support/redis/server.ts";

interface Counter {
  readonly n: number;
}

test("a server that drops keys when its memory is full is refused", async () => {
  const server = await startServer("--maxmemory-policy", "allkeys-lru");
  try {
    await expect(open(server.url)).rejects.toMatchObject({ code: "UNSUPPORTED", message: /noeviction/ });
    await server.command("CONFIG", "SET", "maxmemory-policy", "volatile-lru");
    await (await open(server.url)).close();
  } finally {
    await server.remove();
  }
});

test("a server without an append-only file does not claim to be durable", async () => {
  const server = await startServer("--appendonly", "no");
  try {
    const { redis } = await import("../../../src/backends/redis/index.ts");
    const backend = await redis(server.url);
    expect(backend.capabilities.durable).toBe(false);
    await backend.close();
    await server.command("CONFIG", "SET", "appendonly", "yes");
    const durable = await redis(server.url);
    expect(durable.capabilities.durable).toBe(true);
    await durable.close();
  } finally {
    await server.remove();
  }
});

test("a commit that finds the memory full fails, known not to be applied, and leaves the thread as it was", async () => {
  const server = await startServer();
  try {
    await using store = await open<{ text: string }>(server.url);
    const thread = store.thread("t");
    await thread.put({ state: { text: "before" } });
    await server.command("CONFIG", "SET", "maxmemory", "1");
    for (const change of [
      () => thread.put({ state: { text: "x".repeat(100) } }),
      () => thread.fork({ into: "fork" }),
    ]) {
      await expect(change()).rejects.toMatchObject({ code: "BACKEND", committed: false, message: /memory is full/ });
    }
    expect((await thread.latest())?.state).toEqual({ text: "before" });
    await server.command("CONFIG", "SET", "maxmemory", "0");
    await thread.put({ state: { text: "after" } });
    expect((await store.verify()).faults).toEqual([]);
    expect(await store.thread("fork").latest()).toBeUndefined();
  } finally {
    await server.remove();
  }
});

test("a password is given to the server, and a wrong one is an error that does not show it", async () => {
  const server = await startServer("--requirepass", "s3cr:t");
  try {
    const at = `127.0.0.1:${server.port}`;
    await using store = await open<Counter>(`redis://:${encodeURIComponent("s3cr:t")}@${at}`);
    await store.thread("t").put({ state: { n: 1 } });
    const wrong = await open(`redis://:wr0ng@${at}`).catch((error: Error) => error);
    expect(wrong).toMatchObject({ code: "BACKEND", message: /password was refused/ });
    expect(String((wrong as Error).message)).not.toContain("wr0ng");
    await expect(open(`redis://${at}`)).rejects.toMatchObject({ code: "BACKEND", message: /wants a password/ });
  } finally {
    await server.remove();
  }
});

test.each([
  [4, /Upgrade threadmark/],
  [2, /Export it with the version that wrote it/],
])("a store of layout %i is refused", async (version, message) => {
  const { url, options } = await makeRedis();
  const server = await fileServer();
  await server.command("SET", `{${options.prefix}}:layout`, JSON.stringify({ version, shards: 1 }));
  await expect(open(url, options)).rejects.toMatchObject({ code: "VERSION", message });
});

test("scripts that the server has forgotten are sent again", async () => {
  const { url, options } = await makeRedis();
  await using store = await open<Counter>(url, options);
  for (let n = 1; n <= 3; n++) {
    await (await fileServer()).command("SCRIPT", "FLUSH");
    await store.thread("t").put({ state: { n } });
    expect((await store.thread("t").latest())?.state).toEqual({ n });
  }
});

test("while connections are cut again and again, every put is there once and in order", async () => {
  const server = await startServer();
  try {
    await using store = await open<{ list: number[] }>(server.url);
    const threads = ["a", "b", "c"].map((id) => store.thread(id));
    for (const thread of threads) await thread.put({ state: { list: [] } });
    let done = false;
    const cutting = (async () => {
      while (!done) {
        await server.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
        await new Promise((resolve) => setTimeout(resolve, 15));
      }
    })();
    const count = 25;
    await Promise.all(
      threads.map(async (thread) => {
        for (let n = 0; n < count; n++) await thread.put({ update: { append: { list: [n] } } });
      }),
    );
    done = true;
    await cutting;
    const expected = Array.from({ length: count }, (_, n) => n);
    for (const thread of threads) {
      expect((await thread.latest())?.state.list).toEqual(expected);
      expect(await thread.count()).toBe(count + 1);
    }
    expect((await store.verify()).faults).toEqual([]);
  } finally {
    await server.remove();
  }
});

test("a server that is killed and started again is waited for, and has every acknowledged put", async () => {
  const server = await startServer("--appendfsync", "always");
  try {
    await using store = await open<Counter>(server.url, { patience: 60_000 });
    const thread = store.thread("t");
    let acknowledged = 0;
    let done = false;
    const writing = (async () => {
      for (let n = 1; !done; n++) acknowledged = (await thread.put({ state: { n } })).seq;
    })();
    for (let kills = 0; kills < 2; kills++) {
      const before = acknowledged;
      while (acknowledged < before + 5) await new Promise((resolve) => setTimeout(resolve, 5));
      await server.kill();
      await server.start();
    }
    const before = acknowledged;
    while (acknowledged < before + 5) await new Promise((resolve) => setTimeout(resolve, 5));
    done = true;
    await writing;
    expect((await thread.latest())?.seq).toBe(acknowledged);
    expect(await thread.count()).toBe(acknowledged);
    expect((await store.verify()).faults).toEqual([]);
  } finally {
    await server.remove();
  }
});

test("a server that cannot be reached is an error within the patience", async () => {
  await expect(open("redis://127.0.0.1:1", { patience: 50 })).rejects.toMatchObject({ code: "BACKEND" });
});

test("too few replicas make a commit fail as unknown, though it may be there", async () => {
  const { url, options } = await makeRedis({ replicas: 1 });
  await using store = await open<Counter>(url, options);
  await expect(
    store
      .thread("t")
      .putWrites("c", { task: "t", writes: [] })
      .then(() => store.thread("t").acquire()),
  ).rejects.toMatchObject({
    code: "BACKEND",
    committed: "unknown",
  });
});
