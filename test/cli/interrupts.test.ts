import { expect, test } from "vitest";
import { type Ended, lines, storeWith, threadmark } from "./run.ts";

const MANY = 400;

function manyThreads(): Promise<string> {
  return storeWith(async (store) => {
    await Promise.all(Array.from({ length: MANY }, (_, index) => store.thread(`t${index}`).put({ state: { index } })));
  });
}

function longThread(): Promise<string> {
  return storeWith(async (store) => {
    const thread = store.thread("t");
    await Promise.all(Array.from({ length: MANY }, (_, index) => thread.put({ state: { index } })));
  });
}

/** Ctrl-C as soon as the first line is out. */
function interrupted(parameters: readonly string[]): Promise<Ended> {
  const interrupt = new AbortController();
  return threadmark(parameters, { signal: interrupt.signal, hear: () => interrupt.abort() });
}

test("Ctrl-C ends a long list in the middle, with 130", async () => {
  for (const [url, ...command] of [
    [await manyThreads(), "threads", "--json"],
    [await longThread(), "history", "t", "--json"],
    [await longThread(), "history", "t", "--json", "--states"],
  ] as const) {
    const { code, out, err } = await interrupted([...command, url]);
    expect({ command, code, err }).toEqual({ command, code: 130, err: "" });
    expect(lines(out).length).toBeLessThan(MANY);
  }
});

test("Ctrl-C ends an import that waits for a silent input, with 130", async () => {
  const url = await storeWith(async () => undefined);
  const interrupt = new AbortController();
  const ending = threadmark(["import", url], { signal: interrupt.signal });
  setTimeout(() => interrupt.abort(), 20);
  expect(await ending).toEqual({ code: 130, out: "", err: "" });
});
