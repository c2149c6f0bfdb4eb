import { emptyCheckpoint } from "@langchain/langgraph-checkpoint";
import { expect, test } from "vitest";
import { open } from "../../src/index.ts";
import { ThreadmarkSaver } from "../../src/langgraph/index.ts";
import { collect } from "../support/collect.ts";

test("Threads that LangGraph did not write are left out of a list of all, whatever its limit, and refused by name", async () => {
  await using store = await open<Record<string, unknown>>("memory:");
  const saver = new ThreadmarkSaver(store);
  const ids = ["1ef4f797-8335-6428-8001-8a1503f9b871", "1ef4f797-8335-6428-8001-8a1503f9b872"];
  for (const [index, id] of ids.entries()) {
    await saver.put(
      { configurable: { thread_id: `graph-${index}` } },
      { ...emptyCheckpoint(), id },
      { source: "input", step: -1, parents: {} },
      {},
    );
  }
  await store.thread("other").put({ state: { n: 1 } });
  await store.thread("text").put({ state: "a text" as never });
  await store.thread("nothing").put({ state: null as never });
  const listed = async (limit?: number): Promise<unknown[]> =>
    (await collect(saver.list({}, limit === undefined ? {} : { limit }))).map(({ checkpoint }) => checkpoint.id);
  expect(await listed()).toEqual(ids.toReversed());
  expect(await listed(2)).toEqual(ids.toReversed());
  expect(await listed(1)).toEqual(ids.slice(1));
  expect(await listed(0)).toEqual([]);
  for (const thread_id of ["other", "text", "nothing"]) {
    const refused = { code: "UNSUPPORTED", thread: thread_id, message: expect.stringContaining("by LangGraph") };
    await expect(saver.getTuple({ configurable: { thread_id } })).rejects.toMatchObject(refused);
    await expect(collect(saver.list({ configurable: { thread_id } }))).rejects.toMatchObject(refused);
  }
});
