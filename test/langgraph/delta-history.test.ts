import type { RunnableConfig } from "@langchain/core/runnables";
import { DeltaSnapshot } from "@langchain/langgraph-checkpoint";
import { expect, it } from "vitest";
import { open } from "../../src/api/open.ts";
import type { Backend, Read } from "../../src/backend.ts";
import { memory } from "../../src/backends/memory/index.ts";
import { ThreadmarkSaver } from "../../src/langgraph/index.ts";
import { forwarding } from "../../src/testing/index.ts";
import { checkpointOf, loop, newThread, onEveryBackend, put, thread } from "./support/saver.ts";

/** A step of a graph whose channel `log` keeps only its writes. */
async function step(
  saver: ThreadmarkSaver,
  config: RunnableConfig,
  written: string,
  version: number,
): Promise<RunnableConfig> {
  await saver.putWrites(config, [["log", [written]]], `task ${written}`);
  return saver.put(
    config,
    checkpointOf({ n: version }, version, { channel_versions: { n: version, log: version } }),
    loop,
    {
      n: version,
      log: version,
    },
  );
}

onEveryBackend("the history of a channel that keeps only its writes", (savers) => {
  it("the history of a channel follows the branch it is asked for", async () => {
    const saver = await savers.fresh();
    const root = await put(saver, thread(newThread()), { log: new DeltaSnapshot(["seed"]), n: 0 });
    const a = await step(saver, root, "a", 2);
    const left = await step(saver, a, "left", 3);
    await saver.putWrites(a, [["log", ["right"]]], "task right");
    const right = await step(saver, a, "more", 3);
    const fork = await saver.forkThread(a, newThread());
    const forked = await step(saver, fork, "forked", 3);
    const written = async (config: RunnableConfig): Promise<unknown> => {
      const { log } = await saver.getDeltaChannelHistory({ config, channels: ["log"] });
      return [(log?.seed as DeltaSnapshot | undefined)?.value, log?.writes.flatMap((write) => write[2])];
    };
    expect(await written(left)).toEqual([["seed"], ["a", "left", "more", "right"]]);
    expect(await written(right)).toEqual(await written(left));
    // The fork shows the writes that were there when it was made, and its own.
    expect(await written(forked)).toEqual([["seed"], ["a", "forked", "left", "more", "right"]]);
    expect(await written(a)).toEqual([["seed"], ["a"]]);
    expect(await written(root)).toEqual([undefined, []]);
    expect(await saver.getDeltaChannelHistory({ config: thread("unknown"), channels: ["log"] })).toEqual({
      log: { writes: [] },
    });
    expect(await saver.getDeltaChannelHistory({ config: root, channels: [] })).toEqual({});
  });
});

it("a history takes as many reads however long it is: of each tape one of the metadata, one of the writes", async () => {
  const backend = memory();
  let reads: (readonly Read[])[] = [];
  const counting = forwarding(backend, {
    read: (list) => {
      reads.push(list);
      return backend.read(list);
    },
  });
  const readsOf = async (
    saver: ThreadmarkSaver,
    config: RunnableConfig,
    length: number,
    tapes: number,
  ): Promise<number> => {
    reads = [];
    const { log } = await saver.getDeltaChannelHistory({ config, channels: ["log"] });
    expect(log?.writes).toHaveLength(length);
    expect(log?.seed).toEqual(new DeltaSnapshot(["seed"]));
    const of = (table: string): number =>
      reads.filter((list) => list.some((read) => "scan" in read && read.scan.table === table)).length;
    expect(of("write")).toBe(tapes);
    // The pack that holds the seed is asked for along with the writes.
    expect(of("rows")).toBeLessThanOrEqual(tapes + 1);
    return reads.length;
  };
  const counts: Record<"own" | "forked", number[]> = { own: [], forked: [] };
  for (const length of [200, 1000]) {
    const saver = new ThreadmarkSaver(await open(counting, { cacheBytes: 0 }));
    let config = await put(saver, thread(`of ${length}`), { log: new DeltaSnapshot(["seed"]), n: 0 });
    for (let n = 1; n <= length; n++) config = await step(saver, config, String(n), n);
    const fork = await saver.forkThread(config, `fork of ${length}`);
    // Others that know nothing yet, as in a new process.
    counts.own.push(await readsOf(new ThreadmarkSaver(await open(counting)), config, length, 1));
    const other = new ThreadmarkSaver(await open(counting));
    await other.getTuple(fork);
    counts.forked.push(await readsOf(other, fork, length, 2));
  }
  expect(counts.own[1]).toBe(counts.own[0]);
  expect(counts.forked[1]).toBe(counts.forked[0]);
  expect(Math.max(...counts.own)).toBeLessThanOrEqual(5);
  expect(Math.max(...counts.forked)).toBeLessThanOrEqual(6);
});

it("a history is one read where the thread is remembered, and another once writes are sealed, whatever else was committed since", async () => {
  const backend = memory();
  let reads = 0;
  const counting = forwarding(backend, {
    read: (list) => {
      reads += 1;
      return backend.read(list);
    },
  });
  const saver = new ThreadmarkSaver(await open(counting));
  let config = await put(saver, thread("t"), { log: new DeltaSnapshot(["seed"]), n: 0 });
  const expected: string[] = [];
  const history = async (at: RunnableConfig): Promise<{ written: unknown; seed: unknown; count: number }> => {
    reads = 0;
    const { log } = await saver.getDeltaChannelHistory({ config: at, channels: ["log"] });
    return { written: log?.writes.flatMap((write) => write[2]), seed: log?.seed, count: reads };
  };
  const seed = new DeltaSnapshot(["seed"]);
  for (let n = 1; n <= 40; n++) {
    config = await step(saver, config, String(n), n);
    expected.push(String(n));
    expect(await history(config)).toEqual({ written: expected, seed, count: 1 });
  }
  // Rows that were sealed have to be read once: then they are remembered, too.
  for (let n = 41; n <= 300; n++) config = await step(saver, config, String(n), n);
  const written = Array.from({ length: 300 }, (_, index) => String(index + 1));
  expect((await history(config)).written).toEqual(written);
  expect(await history(config)).toEqual({ written, seed, count: 2 });
  config = await step(saver, config, "301", 301);
  expect(await history(config)).toEqual({ written: [...written, "301"], seed, count: 2 });
  // That same read sees what others wrote meanwhile.
  const other = new ThreadmarkSaver(await open(backend));
  await other.putWrites(config, [["log", ["unseen"]]], "task of another");
  const next = await step(saver, config, "302", 302);
  const last = [...written, "301", "302", "unseen"];
  expect(await history(next)).toEqual({ written: last, seed, count: 2 });
  // A stale memory is read anew.
  await other.store.thread("t").prune({ keepLast: 200 });
  expect((await history(next)).written).toEqual((await freshHistory(backend, next)).written);
});

async function freshHistory(backend: Backend, config: RunnableConfig): Promise<{ written: unknown }> {
  const { log } = await new ThreadmarkSaver(await open(backend)).getDeltaChannelHistory({ config, channels: ["log"] });
  return { written: log?.writes.flatMap((write) => write[2]) };
}
