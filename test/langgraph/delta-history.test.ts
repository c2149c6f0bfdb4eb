import type { RunnableConfig } from "@langchain/core/runnables";
import { DeltaSnapshot } from "@langchain/langgraph-checkpoint";
import { expect, it } from "vitest";
import type { Backend, Read } from "../../src/backend.ts";
import { memory } from "../../src/backends/memory/index.ts";
import { ThreadmarkSaver } from "../../src/langgraph/index.ts";
import { open } from "../../src/open.ts";
import { checkpointOf, loop, newThread, onEveryBackend, put, thread } from "./saver.ts";

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
  it("follows the branch it is asked for", async () => {
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
  const counting: Backend = {
    ...pick(backend),
    read: (list) => {
      reads.push(list);
      return backend.read(list);
    },
  };
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
    expect(of("rows")).toBeLessThanOrEqual(tapes);
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
  expect(Math.max(...counts.own)).toBeLessThanOrEqual(9);
  expect(Math.max(...counts.forked)).toBeLessThanOrEqual(11);
});

function pick(backend: Backend): Backend {
  const { name, capabilities } = backend;
  return {
    name,
    capabilities,
    read: (list) => backend.read(list),
    commit: (batches) => backend.commit(batches),
    size: () => backend.size(),
    compact: () => backend.compact(),
    verify: () => backend.verify(),
    close: () => backend.close(),
  };
}
