import { expect, it } from "vitest";
import { open } from "../../../src/index.ts";
import { collect } from "../../support/collect.ts";

it("long work ends with the reason of its signal, and progress hears of every thread", async () => {
  const store = await open("memory:");
  for (const id of ["a", "b", "c"]) await store.thread(id).put({ state: { id } });
  const bundle = await collect(store.export());
  const reason = new Error("enough");
  const target = await open("memory:");
  const works = [
    (options: object) => store.verify(options),
    (options: object) => store.compact(options),
    (options: object) => store.stats(options),
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
