import { expect, test } from "vitest";
import { open } from "../../../src/api/open.ts";

test("a fork into a thread that exists is CONFLICT, whatever else is wrong with it", async () => {
  const store = await open<unknown>("memory:");
  const thread = store.thread("t");
  await thread.put({ state: "a text has no keys to edit" });
  await store.thread("other").put({ state: {} });
  await expect(thread.fork({ into: "other", edits: { a: 1 } as never })).rejects.toMatchObject({ code: "CONFLICT" });
  await expect(thread.fork({ into: "free", edits: { a: 1 } as never })).rejects.toThrow(TypeError);
});
