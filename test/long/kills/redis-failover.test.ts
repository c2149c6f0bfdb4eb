import { expect, test } from "vitest";
import { open } from "../../../src/index.ts";
import { TestCluster } from "../../support/redis/cluster.ts";
import { howMany } from "../campaign.ts";

const threads = 6;

/** Kills masters under load, one after the other, and returns how many acknowledged puts are gone. */
async function lostByKills(replicas: number, kills: number): Promise<number> {
  const cluster = await TestCluster.start(3_000);
  try {
    await using store = await open<{ n: number }>(cluster.url, { replicas, patience: 120_000 });
    const acknowledged = new Map<string, Set<string>>();
    let done = false;
    let count = 0;
    const writing = Array.from({ length: threads }, async (_, index) => {
      const thread = store.thread(`t${index}`);
      const ids = new Set<string>();
      acknowledged.set(thread.id, ids);
      while (!done) {
        // An outcome that cannot be told is no acknowledgement.
        const put = await thread.put({ state: { n: count } }).catch((error: { committed?: unknown }) => {
          if (error.committed === undefined) throw error;
          return undefined;
        });
        if (put) ids.add(put.id);
        count += 1;
      }
    });
    const someMore = async (): Promise<void> => {
      const before = count;
      while (count < before + 60) await new Promise((resolve) => setTimeout(resolve, 10));
    };
    await someMore();
    for (let kill = 0; kill < kills; kill += 1) {
      const { masters } = await cluster.roles();
      const victim = masters[kill % masters.length];
      await victim?.kill();
      await someMore();
      await victim?.start();
      await cluster.settled();
      await someMore();
    }
    done = true;
    await Promise.all(writing);
    let lost = 0;
    for (const [id, ids] of acknowledged) {
      const there = new Set<string>();
      for await (const checkpoint of store.thread(id).history()) there.add(checkpoint.id);
      for (const one of ids) if (!there.has(one)) lost += 1;
    }
    expect((await store.verify()).faults).toEqual([]);
    return lost;
  } finally {
    await cluster.remove();
  }
}

test("with replicas: 1, no acknowledged put is lost when masters of a cluster are killed under load", async () => {
  expect(await lostByKills(1, howMany(3))).toBe(0);
}, 1_800_000);

test("without replicas, a store reads whole and is written on after masters were killed under load", async () => {
  const lost = await lostByKills(0, howMany(3));
  console.log(`acknowledged puts lost without replicas: ${lost}`);
}, 1_800_000);
