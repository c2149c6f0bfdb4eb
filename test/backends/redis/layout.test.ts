import { expect, it } from "vitest";
import { open } from "../../../src/api/open.ts";
import { Layout } from "../../../src/backends/redis/layout.ts";
import { fileServer, makeRedis } from "../../support/redis/places.ts";

it("a store of layout 1 is of layout 2 once it is written to, and keeps its shards and records", async () => {
  const place = await makeRedis({ shards: 4 });
  const server = await fileServer();
  const key = `{${place.options.prefix}}:layout`;
  const written = await open<{ n: number }>(place.url, place.options);
  await written.thread("before").put({ state: { n: 1 } });
  await written.close();
  await server.command("SET", key, JSON.stringify({ version: 1, shards: 4 }));
  const store = await open<{ n: number }>(place.url, { ...place.options, shards: 8 });
  expect((await store.thread("before").latest())?.state).toEqual({ n: 1 });
  expect(JSON.parse(String(await server.command("GET", key)))).toEqual({ version: 1, shards: 4 });
  await Promise.all(["after", "before"].map((id) => store.thread(id).put({ state: { n: 2 } })));
  expect(JSON.parse(String(await server.command("GET", key)))).toEqual({ version: 2, shards: 4 });
  expect(await store.thread("before").count()).toBe(2);
  expect(await store.verify()).toEqual({ ok: true, faults: [] });
  await store.close();
});

it("a thread's lineage has a number below 2^40 in the shard of its directory entry", () => {
  for (const shards of [1, 7, 64, 256]) {
    const layout = new Layout("p", shards);
    for (const number of [1, 2, 2 ** 31, 2 ** 39 + 1, 2 ** 40 - 1]) {
      for (const id of ["a", "b", "c"]) {
        const lineage = layout.numberFor(id, number);
        expect(lineage).toBeGreaterThan(0);
        expect(lineage).toBeLessThan(2 ** 40);
        if (shards > 1) expect(layout.shardOfLineage(lineage)).toBe(layout.shardOfThread(id));
      }
    }
  }
});
