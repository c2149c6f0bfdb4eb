import { setImmediate as turn } from "node:timers/promises";

/** How many entries pass before Ctrl-C is looked for again. */
const OFTEN = 50;

/** The same entries, until Ctrl-C. A store that answers at once would not let it through before the end. */
export async function* interruptible<Entry>(
  signal: AbortSignal,
  source: AsyncIterable<Entry> | Iterable<Entry>,
): AsyncGenerator<Entry> {
  let passed = 0;
  for await (const entry of source) {
    if (passed % OFTEN === 0) {
      await turn();
      signal.throwIfAborted();
    }
    passed += 1;
    yield entry;
  }
}
