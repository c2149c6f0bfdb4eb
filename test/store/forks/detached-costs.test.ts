import { expect, test } from "vitest";
import { memory } from "../../../src/backends/memory/index.ts";
import { open } from "../../../src/index.ts";
import { counted, type Taken } from "../../support/counted.ts";

/** Returns what forking a template once more, and deleting that fork, takes after so many forks. */
async function costsAfter(forks: number): Promise<readonly Taken[]> {
  const { backend, taken } = counted(memory());
  const store = await open(backend, { clock: () => 1_000_000 });
  const template = store.thread("template");
  for (let n = 0; n < 5; n += 1) await template.put({ state: { n } });
  for (let n = 0; n < forks; n += 1) await template.fork({ into: `f${n}`, detached: true });
  const again = await open(backend, { clock: () => 1_000_000 });
  await again.thread("template").latest();
  taken();
  await again.thread("template").fork({ into: "one", detached: true });
  const forking = taken();
  await again.thread("f3").delete();
  return [forking, taken()];
}

test("forking a template by value, and deleting such a fork, costs the same after 10 forks and after 10,000", async () => {
  const [few, many] = [await costsAfter(10), await costsAfter(10_000)];
  const counts = (costs: readonly Taken[]): unknown =>
    costs.map(({ commits, reads, records }) => [commits, reads, records]);
  expect(counts(many)).toEqual(counts(few));
});
