import { expect, test } from "vitest";
import { disposable } from "../../../src/platform/disposable.ts";

/** Returns a generator as Node 20 and 22 make it: without a method to dispose of it. */
function withoutDispose(events: string[]): AsyncGenerator<number> {
  async function* count(): AsyncGenerator<number> {
    try {
      for (let n = 0; ; n += 1) yield n;
    } finally {
      events.push("ended");
    }
  }
  const inner = count();
  const older: Omit<AsyncGenerator<number>, typeof Symbol.asyncDispose> = {
    next: () => inner.next(),
    return: () => inner.return(undefined),
    throw: (error: unknown) => inner.throw(error),
    [Symbol.asyncIterator]: () => inner,
  };
  return older as AsyncGenerator<number>;
}

test("await using ends a generator on a runtime whose generators cannot be disposed of", async () => {
  const events: string[] = [];
  {
    await using numbers = disposable(withoutDispose(events));
    expect(await numbers.next()).toEqual({ done: false, value: 0 });
    expect(events).toEqual([]);
  }
  expect(events).toEqual(["ended"]);
});

test("a generator that can be disposed of keeps its own method", () => {
  async function* none(): AsyncGenerator<number> {}
  const generator = none();
  const own = generator[Symbol.asyncDispose];
  expect(disposable(generator)[Symbol.asyncDispose]).toBe(own);
  expect(Object.hasOwn(generator, Symbol.asyncDispose)).toBe(false);
});
