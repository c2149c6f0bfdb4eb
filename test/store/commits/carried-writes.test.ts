import { expect, test } from "vitest";
import { memory } from "../../../src/backends/memory/index.ts";
import { open } from "../../../src/index.ts";
import { forwarding } from "../../../src/testing/index.ts";

interface State {
  readonly n: number;
  readonly text: string;
}

const text = "a result that stands in the state that follows, too";

/** Opens a store that notes the tables of the records that commits insert. */
async function observed() {
  const inner = memory();
  const inserted: string[] = [];
  const backend = forwarding(inner, {
    commit: (batches) => {
      for (const { inserts = [] } of batches) for (const { key } of inserts) inserted.push(key.table);
      return inner.commit(batches);
    },
  });
  return { store: await open<State>(backend), inserted };
}

test("a row carries the writes against its parent, and not those against another checkpoint", async () => {
  const { store, inserted } = await observed();
  const thread = store.thread("t");
  const first = await thread.put({ state: { n: 1, text: "" } });
  const head = await thread.put({ state: { n: 2, text: "" } });
  const writes = { task: "a", writes: [{ channel: "text", value: text }] };

  inserted.length = 0;
  await Promise.all([thread.putWrites(head.id, writes), thread.put({ state: { n: 3, text } }, { parent: first.id })]);
  expect(inserted, "a branch from an older checkpoint").toContain("write");

  const tip = await thread.put({ state: { n: 4, text: "" } });
  inserted.length = 0;
  const [, next] = await Promise.all([thread.putWrites(tip.id, writes), thread.put({ state: { n: 5, text } })]);
  expect(inserted, "the step that follows").not.toContain("write");

  for (const { id } of [head, tip]) {
    expect((await thread.writes(id)).map(({ task, value }) => [task, value])).toEqual([["a", text]]);
  }
  await thread.deleteCheckpoints([next.id]);
  expect((await thread.writes(tip.id)).map(({ value }) => value)).toEqual([text]);
  await store.close();
});
