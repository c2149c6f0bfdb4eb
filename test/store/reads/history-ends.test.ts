import { expect, it } from "vitest";
import { open } from "../../../src/index.ts";

it("a history ends where its reader stops, where it is disposed of, and where the store closes", async () => {
  const store = await open<{ n: number }>("memory:");
  const thread = store.thread("t");
  for (let n = 0; n < 5; n += 1) await thread.put({ state: { n } });
  const history = thread.history();
  for await (const { step } of history) if (step === 3) break;
  expect(await history.next()).toEqual({ done: true, value: undefined });
  const disposed = thread.history();
  expect((await disposed.next()).done).toBe(false);
  await disposed[Symbol.asyncDispose]();
  expect((await disposed.next()).done).toBe(true);
  const left = thread.history();
  await left.next();
  await store.close();
  await expect(left.next()).rejects.toMatchObject({ code: "CLOSED" });
  expect((await left.next()).done).toBe(true);
});

it("calls of next that are not awaited are answered in order", async () => {
  const store = await open<{ n: number }>("memory:");
  const thread = store.thread("t");
  for (let n = 0; n < 20; n += 1) await thread.put({ state: { n } });
  const history = thread.history();
  const results = await Promise.all(Array.from({ length: 21 }, () => history.next()));
  expect(results.map(({ value }) => (value as { step: number } | undefined)?.step)).toEqual([
    ...Array.from({ length: 20 }, (_, index) => 19 - index),
    undefined,
  ]);
  await store.close();
});
