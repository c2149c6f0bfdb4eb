import fc from "fast-check";
import { expect, it } from "vitest";
import { END, type Source, Stepwise } from "../../../src/engine/reads/stepwise.ts";
import { open } from "../../../src/index.ts";

/** An item of a source, given at once or after a turn; `fails` stands for a failed read. */
type Item = { readonly value: number; readonly atOnce: boolean } | "fails";
type Call = "next" | "return" | "throw" | "wait";

function sourceOf(items: readonly Item[]): Source<number> {
  let at = 0;
  return {
    atHand() {
      const item = items[at];
      if (item === undefined || item === "fails" || !item.atOnce) return undefined;
      at += 1;
      return { done: false, value: item.value };
    },
    async find() {
      await Promise.resolve();
      const item = items[at];
      at += 1;
      if (item === undefined) return END;
      if (item === "fails") throw new Error("failed");
      return { done: false, value: item.value };
    },
  };
}

async function* generatorOf(items: readonly Item[]): AsyncGenerator<number, undefined, unknown> {
  for (const item of items) {
    if (item === "fails") throw new Error("failed");
    yield item.value;
  }
  return undefined;
}

/** Makes the calls, most of them without waiting for those before; what each came to, and in which order. */
async function outcomes(
  generator: AsyncGenerator<number, undefined, unknown>,
  calls: readonly Call[],
): Promise<unknown[]> {
  const order: number[] = [];
  const results: Promise<unknown>[] = [];
  for (const [index, call] of calls.entries()) {
    if (call === "wait") {
      await Promise.all(results);
      continue;
    }
    const asked =
      call === "next"
        ? generator.next()
        : call === "return"
          ? generator.return(undefined)
          : generator.throw(new Error("thrown"));
    const told = asked.then(
      (result) => ({ ...result }),
      (error: Error) => error.message,
    );
    results.push(told.finally(() => order.push(index)));
  }
  return [...(await Promise.all(results)), order];
}

const item: fc.Arbitrary<Item> = fc.oneof(
  { weight: 9, arbitrary: fc.record({ value: fc.nat(), atOnce: fc.boolean() }) },
  { weight: 1, arbitrary: fc.constant("fails" as const) },
);
const call: fc.Arbitrary<Call> = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom<Call>("next", "wait") },
  { weight: 1, arbitrary: fc.constantFrom<Call>("return", "throw") },
);

it("a stepwise walk answers every sequence of calls as a generator function's would", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(item, { maxLength: 8 }), fc.array(call, { maxLength: 12 }), async (items, calls) => {
      const expected = await outcomes(generatorOf(items), calls);
      expect(await outcomes(new Stepwise(sourceOf(items)), calls)).toEqual(expected);
    }),
    { numRuns: 300 },
  );
});

it("a history that is given up half way, disposed of, or left when the store closes ends there", async () => {
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
