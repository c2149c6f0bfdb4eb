import { setImmediate as turn } from "node:timers/promises";

/** How many entries pass between two checks for Ctrl-C. */
const OFTEN = 50;

/** Passes entries on until Ctrl-C. A store that answers at once would keep the event loop from noticing it. */
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
