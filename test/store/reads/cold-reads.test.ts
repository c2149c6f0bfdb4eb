import { expect, it } from "vitest";
import { memory } from "../../../src/backends/memory/index.ts";
import { open } from "../../../src/index.ts";

interface State {
  readonly log: { n: number; tags: string[] }[];
}

const stateAt = (n: number): State => ({
  log: Array.from({ length: n }, (_, index) => ({ n: index, tags: [`tag ${index}`] })),
});

it("what a newly opened store gives out belongs to the caller, in whichever order checkpoints are read", async () => {
  const backend = memory();
  const writer = (await open<State>(backend)).thread("t");
  const ids = [(await writer.put({ state: stateAt(0) })).id];
  for (let n = 1; n <= 20; n += 1) {
    ids.push((await writer.put({ update: { append: { log: stateAt(n).log.slice(-1) } } })).id);
  }
  const reader = (await open<State>(backend)).thread("t");
  for (const n of [20, 20, 7, 20, 19, 7, 20, 0, 1]) {
    const { state } = (await reader.get(ids[n] as string)) ?? {};
    expect(state).toEqual(stateAt(n));
    for (const entry of state?.log ?? []) entry.tags.push("changed by the caller");
    state?.log.splice(0, 1);
  }
  expect((await reader.latest())?.state).toEqual(stateAt(20));
});
