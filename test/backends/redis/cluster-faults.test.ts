import { afterAll, beforeAll, expect, test } from "vitest";
import { KeyLayout } from "../../../src/backends/redis/layout.ts";
import { open, type Store } from "../../../src/index.ts";
import { forwarding } from "../../../src/testing/index.ts";
import { TestCluster } from "../../support/redis/cluster.ts";
import { stoppingAt } from "./support/stopping-driver.ts";

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await TestCluster.start();
}, 120_000);
afterAll(() => cluster?.remove());

const shards = 64;

/** Returns an id whose directory entry is in another shard than the thread's. */
function idApartFrom(id: string, prefix: string): string {
  const layout = new KeyLayout(prefix, shards);
  for (let n = 0; ; n++) if (layout.shardOfThread(`fork ${n}`) !== layout.shardOfThread(id)) return `fork ${n}`;
}

async function idsOf(store: Store<unknown>): Promise<readonly string[]> {
  const ids: string[] = [];
  for await (const { id } of store.threads()) ids.push(id);
  return ids.sort();
}

test("a fork of two slots that stops after any of its commands is there whole or not at all, and can be made again", async () => {
  for (let stop = 1; stop <= 4; stop++) {
    const prefix = `stop-${stop}`;
    await using other = await open(cluster.url, { prefix });
    // The first thread of a store may live in any shard: where it lives is chosen once the layout is known.
    await other.thread("t").put({ state: { n: 0 } });
    await other.thread("t").delete();
    await other.thread("t").put({ state: { n: 1 } });
    const into = idApartFrom("t", prefix);
    const { driver, arm } = await stoppingAt(stop);
    const dying = await open(cluster.url, { prefix, driver, patience: 1_500 });
    await dying.thread("t").latest();
    arm();
    await dying
      .thread("t")
      .fork({ into })
      .catch(() => {});
    await dying.close();
    const isThere = (await other.thread(into).latest()) !== undefined;
    expect(await idsOf(other), `stopped at command ${stop}`).toEqual(isThere ? [into, "t"] : ["t"]);
    // The commit point is the second command.
    expect(isThere, `stopped at command ${stop}`).toBe(stop > 2);
    if (!isThere) await other.thread("t").fork({ into });
    await other.thread(into).put({ state: { n: 2 } });
    await other.thread(into).delete();
    expect(await idsOf(other)).toEqual(["t"]);
    expect((await other.verify()).faults).toEqual([]);
  }
}, 240_000);

test("a thread is made in one slot once the layout is known", async () => {
  const { redis } = await import("../../../src/backends/redis/index.ts");
  const backend = await redis(cluster.url, { prefix: "placed" });
  const layout = new KeyLayout("placed", shards);
  const placed: boolean[] = [];
  await using store = await open(
    forwarding(backend, {
      commit: (batches) => {
        for (const { puts = [], inserts = [] } of batches) {
          const entry = puts.find(({ key }) => key.table === "directory")?.key;
          const row = inserts.find(({ key }) => key.table === "meta")?.key;
          if (entry?.table !== "directory" || row === undefined || row.table === "directory") continue;
          placed.push(layout.shardOfThread(entry.id) === layout.shardOfLineage(row.lineage));
        }
        return backend.commit(batches);
      },
    }),
  );
  for (let n = 0; n < 12; n++) await store.thread(`t${n}`).put({ state: { n } });
  expect(placed.length).toBe(12);
  expect(placed.slice(1).every(Boolean)).toBe(true);
}, 120_000);

test("a slot can be moved to another server while its threads are written", async () => {
  const prefix = "moved";
  await using store = await open<{ list: number[] }>(cluster.url, { prefix, patience: 60_000, shards: 1 });
  const thread = store.thread("t");
  await thread.put({ state: { list: [] } });
  let done = false;
  let count = 0;
  const writing = (async () => {
    for (; !done; count++) await thread.put({ update: { append: { list: [count] } } });
  })();
  await moveSlot(cluster, `{${prefix}:0}`);
  const before = count;
  while (count < before + 3) await new Promise((resolve) => setTimeout(resolve, 5));
  done = true;
  await writing;
  expect((await thread.latest())?.state.list).toEqual(Array.from({ length: count }, (_, n) => n));
  expect((await store.verify()).faults).toEqual([]);
}, 240_000);

/** Moves the slot of a tag to another master, as `redis-cli --cluster reshard` does. */
async function moveSlot({ roles }: { roles: TestCluster["roles"] }, tag: string): Promise<void> {
  const { masters } = await roles.call(cluster);
  const [any] = masters;
  const slot = String(await any?.command("CLUSTER", "KEYSLOT", tag));
  const holds = async (index: number): Promise<boolean> => {
    const answer = await masters[index]?.command("CLUSTER", "COUNTKEYSINSLOT", slot);
    return Number(answer) > 0;
  };
  const from = (await holds(0)) ? 0 : (await holds(1)) ? 1 : 2;
  const [source, target] = [masters[from], masters[(from + 1) % 3]];
  if (source === undefined || target === undefined) throw new Error("the cluster has too few masters");
  const [sourceId, targetId] = [await source.command("CLUSTER", "MYID"), await target.command("CLUSTER", "MYID")];
  await target.command("CLUSTER", "SETSLOT", slot, "IMPORTING", String(sourceId));
  await source.command("CLUSTER", "SETSLOT", slot, "MIGRATING", String(targetId));
  for (;;) {
    const keys = (await source.command("CLUSTER", "GETKEYSINSLOT", slot, "10")) as readonly string[];
    if (keys.length === 0) break;
    await source.command("MIGRATE", "127.0.0.1", String(target.port), "", "0", "5000", "KEYS", ...keys);
  }
  for (const server of [target, source]) await server.command("CLUSTER", "SETSLOT", slot, "NODE", String(targetId));
}
