import { describe, expect, it } from "vitest";
import { memory } from "../../../src/backends/memory/index.ts";
import { open, type Thread } from "../../../src/index.ts";

type Any = Record<string, unknown>;

/** The states of some checkpoints as they are remembered, and as they are read back once their rows were sealed. */
async function statesOf(thread: Thread<Any>, ids: readonly string[]): Promise<(readonly unknown[])[]> {
  const read = (): Promise<unknown[]> => Promise.all(ids.map(async (id) => (await thread.get(id))?.state));
  const remembered = await read();
  for (let step = 0; step < 70; step += 1) await thread.put({ update: { set: { step } } });
  return [remembered, await read()];
}

describe("an update that sets a list which another checkpoint holds, too", () => {
  it("a list that two checkpoints hold stays in the first when the second is appended to, on a parent without the list", async () => {
    const thread = (await open<Any>("memory:")).thread("t");
    const root = await thread.put({ state: {} });
    await thread.put({ update: { set: { list: [1] } } });
    const head = await thread.put({ update: { append: { list: [2] } } });
    const branch = await thread.put({ update: { set: { list: [1, 2] } } }, { parent: root.id });
    const next = await thread.put({ update: { append: { list: [3] } } }, { parent: head.id });
    const states = [{ list: [1, 2] }, { list: [1, 2, 3] }];
    expect(await statesOf(thread, [branch.id, next.id])).toEqual([states, states]);
  });

  it("a list that two checkpoints hold stays in the first when the second is appended to, on a parent with another list", async () => {
    const thread = (await open<Any>("memory:")).thread("t");
    const root = await thread.put({ state: { list: ["other"] } });
    await thread.put({ state: { list: [1] } });
    const head = await thread.put({ update: { append: { list: [2] } } });
    const branch = await thread.put({ update: { set: { list: [1, 2] } } }, { parent: root.id });
    await thread.put({ update: { append: { list: [3] } } }, { parent: head.id });
    const after = await thread.put({ update: { append: { list: [4] } } }, { parent: branch.id });
    const states = [{ list: [1, 2] }, { list: [1, 2, 4] }];
    expect(await statesOf(thread, [branch.id, after.id])).toEqual([states, states]);
  });

  it("a list that two checkpoints hold stays in the first where it was removed in between, in a put that was not awaited", async () => {
    const thread = (await open<Any>("memory:")).thread("t");
    await thread.put({ state: { list: [1] } });
    const head = await thread.put({ update: { append: { list: [2] } } });
    const [, branch] = await Promise.all([
      thread.put({ update: { unset: ["list"] } }),
      thread.put({ update: { set: { list: [1, 2] } } }),
    ]);
    await thread.put({ update: { append: { list: [3] } } }, { parent: head.id });
    const states = [{ list: [1, 2] }];
    expect(await statesOf(thread, [branch.id])).toEqual([states, states]);
  });

  it("a list that two checkpoints hold stays in the first where another process has been first", async () => {
    const backend = memory();
    const [thread, other] = [(await open<Any>(backend)).thread("t"), (await open<Any>(backend)).thread("t")];
    await thread.put({ state: { list: [1] } });
    const head = await thread.put({ update: { append: { list: [2] } } });
    await other.put({ update: { unset: ["list"] } });
    const branch = await thread.put({ update: { set: { list: [1, 2] } } });
    await thread.put({ update: { append: { list: [3] } } }, { parent: head.id });
    const states = [{ list: [1, 2] }];
    expect(await statesOf(thread, [branch.id])).toEqual([states, states]);
  });
});
