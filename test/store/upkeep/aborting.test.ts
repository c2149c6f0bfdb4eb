import { expect, it } from "vitest";
import { memory } from "../../../src/backends/memory/index.ts";
import { open } from "../../../src/index.ts";
import { forwarding } from "../../../src/testing/index.ts";
import { collect } from "../../support/collect.ts";
import { seals } from "../../support/seals.ts";

it("long work ends with the reason of its signal, and progress hears of every thread", async () => {
  const store = await open("memory:");
  for (const id of ["a", "b", "c"]) await store.thread(id).put({ state: { id } });
  const bundle = await collect(store.export());
  const reason = new Error("enough");
  const target = await open("memory:");
  const works = [
    (options: object) => store.verify(options),
    (options: object) => store.compact(options),
    (options: object) => store.measure(options),
    (options: object) => collect(store.export(options)),
    (options: object) => target.import(bundle, options),
  ];
  for (const work of works) {
    const controller = new AbortController();
    const seen: number[] = [];
    const progress = (threads: number): void => {
      seen.push(threads);
      controller.abort(reason);
    };
    await expect(work({ signal: controller.signal, progress })).rejects.toBe(reason);
    expect(seen).toEqual([1]);
    await expect(work({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  }
  expect((await collect(target.threads())).map(({ id }) => id)).toEqual(["a"]);
  expect(await target.verify()).toEqual({ ok: true, faults: [] });
  const signal = AbortSignal.abort(reason);
  await expect(collect(store.threads({ signal }))).rejects.toBe(reason);
  await expect(collect(store.thread("a").history({ signal }))).rejects.toBe(reason);
  await expect(store.thread("a").prune({ keepLast: 1, signal })).rejects.toBe(reason);
  await store.close();
  await target.close();
});

it("a compaction ends within a thread once it is aborted, and has changed nothing", async () => {
  const backend = memory();
  const reason = new Error("enough");
  const controller = new AbortController();
  let commits = 0;
  let readsLeft = Number.POSITIVE_INFINITY;
  const counted = forwarding(backend, {
    commit(batches) {
      commits += 1;
      return backend.commit(batches);
    },
    read(reads) {
      readsLeft -= 1;
      if (readsLeft === 0) controller.abort(reason);
      return backend.read(reads);
    },
  });
  await using store = await open<{ list: number[] }>(counted);
  const thread = store.thread("t");
  await thread.put({ state: { list: [] } });
  for (let n = 1; n < 200; n += 1) await thread.put({ update: { append: { list: [n] } } });
  // As long as a fork shows them, rows that are deleted stay in storage.
  const fork = await thread.fork();
  const ids = (await collect(thread.history())).map(({ id }) => id);
  await thread.deleteCheckpoints(ids.slice(10, 100));
  await fork.delete();
  await seals();
  const before = commits;
  const progress: number[] = [];
  // The directory, the tape and the lineage's meta records are read first: the abort comes after that.
  readsLeft = 5;
  const options = { signal: controller.signal, progress: (threads: number) => void progress.push(threads) };
  await expect(store.compact(options)).rejects.toBe(reason);
  expect(readsLeft).toBe(0);
  expect(progress).toEqual([]);
  expect(commits).toBe(before);
  expect(await store.verify()).toEqual({ ok: true, faults: [] });
  await store.compact();
  expect(commits).toBeGreaterThan(before);
  expect(await thread.count()).toBe(110);
});
