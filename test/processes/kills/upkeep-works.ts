import { createHash } from "node:crypto";
import type { Store, StoreOptions } from "../../../src/index.ts";

type State = Record<string, unknown>;

const key = (name: string): Uint8Array => createHash("sha256").update(name).digest();
const [one, two] = [key("one"), key("two")];

const SECRET = "alice@example.com";
const start = 1_800_000_000_000;
const day = 24 * 60 * 60 * 1000;

/** Upkeep that processes are killed in: the options of the store before, during and after it. */
interface UpkeepWork {
  readonly before: StoreOptions;
  readonly during: StoreOptions;
  readonly after: StoreOptions;
  run(store: Store<State>): Promise<unknown>;
}

const keptOne = { encryption: { current: "one", keys: { one } } };
const both = { encryption: { current: "two", keys: { one, two } } };
const onlyTwo = { encryption: { current: "two", keys: { two } } };
const small = { packRows: 4, largeValues: { from: 300 } };
const sweeping = {
  retention: { threads: { idle: "1d", status: ["done"] }, checkpoints: { keepLast: 2 } },
} as const;

export const works = {
  "wrapping keys anew": { before: keptOne, during: both, after: onlyTwo, run: (store) => store.rotate() },
  "writing data anew": { before: keptOne, during: both, after: onlyTwo, run: (store) => store.rotate({ data: true }) },
  "encrypting a plain store": {
    before: {},
    during: { encryption: { ...keptOne.encryption, migrating: true } },
    after: keptOne,
    run: (store) => store.rotate(),
  },
  "erasing a value": {
    before: keptOne,
    during: keptOne,
    after: keptOne,
    run: (store) => store.thread("a").erase(["secret"], { forks: true }),
  },
  sweeping: { before: {}, during: sweeping, after: {}, run: (store) => store.sweep() },
} as const satisfies Record<string, UpkeepWork>;

export type Work = keyof typeof works;

/** Returns the options of a store in which the work is done for the nth time: the lease of a killed sweeper has run out. */
export function storeOptions(work: Work, time: number): StoreOptions {
  const now = start + 2 * day + time * 120_000;
  return { clock: () => now, ...small, ...works[work].during };
}

/** The options with which the store is filled. */
export function fillOptions(work: Work): StoreOptions {
  return { clock: () => start, ...small, ...works[work].before };
}

/** Writes two threads with packs, large values, writes, labels and a fork, and one that a sweep takes. */
export async function fill(store: Store<State>): Promise<void> {
  for (const id of ["a", "b"]) {
    const thread = store.thread(id);
    for (let n = 0; n < 7; n += 1) {
      const text = `${id}${n} `.repeat(n === 3 ? 200 : 1);
      await thread.put({ state: { n, text, secret: SECRET }, id: `${id}${n}`, next: ["act"] });
    }
    await thread.label(`${id}1`, "first");
    await thread.putWrites(`${id}6`, { task: "t", writes: [{ channel: "c", value: SECRET }] });
  }
  await store.thread("a").fork({ into: "f", at: { step: 5 }, edits: { n: 99 } });
  await store.thread("idle").put({ state: { n: 0 } });
}
