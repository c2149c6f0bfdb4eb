import { randomBytes } from "node:crypto";
import { describe, test } from "vitest";
import { open, type Store, type ThreadInfo, type ThreadsOptions } from "../../src/index.ts";
import { type Case, cases, type Location, missing, runCase } from "../../src/testing/index.ts";
import { type BackendUnderTest, memoryUnderTest, sqliteUnderTest } from "../support/places.ts";

/** Cases that are about the order of ids and values, which a store that hides them does not have. */
const aboutOrder = new Set([
  "threads: threads are listed in bytewise order of id, by prefix, in pages",
  "encryption: hidden ids are found by equality and listed as they are, and what needs an order is a TypeError",
  "attributes: every condition finds exactly the threads that meet it",
]);

/** Yields what `threads` would in order of the ids, from the order that a store with hidden ids has. */
async function* inOrder<State>(store: Store<State>, options: ThreadsOptions): AsyncGenerator<ThreadInfo> {
  const { prefix = "", after, limit = Number.POSITIVE_INFINITY, ...rest } = options;
  const found: ThreadInfo[] = [];
  for await (const info of store.threads(rest)) found.push(info);
  const bytes = (text: string): Buffer => Buffer.from(text);
  const sorted = found
    .filter(({ id }) => id.startsWith(prefix) && (after === undefined || Buffer.compare(bytes(id), bytes(after)) > 0))
    .sort((left, right) => Buffer.compare(bytes(left.id), bytes(right.id)));
  yield* sorted.slice(0, limit);
}

/** Returns a store that lists threads in order of their ids, and by prefix: the kit looks at its stores that way. */
function ordering<State>(store: Store<State>): Store<State> {
  const threads = (options: ThreadsOptions = {}): AsyncGenerator<ThreadInfo> => {
    const { order, prefix, ...rest } = options;
    // Wrong options are refused by the store itself.
    store.threads(options);
    if (order !== "updated") return inOrder(store, options);
    return prefix === undefined ? store.threads(options) : withPrefix(store.threads({ ...rest, order }), prefix);
  };
  return new Proxy(store, {
    get(target, name) {
      if (name === "threads") return threads;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

async function* withPrefix(threads: AsyncGenerator<ThreadInfo>, prefix: string): AsyncGenerator<ThreadInfo> {
  for await (const info of threads) if (info.id.startsWith(prefix)) yield info;
}

async function locationOf(backend: BackendUnderTest): Promise<Location> {
  const encryption = { current: "one", keys: { one: randomBytes(32) }, hideIds: true };
  const place = await backend.make();
  return {
    open: async (options) => ordering(await open(place.url, { ...place.options, encryption, ...options })),
    cleanup: () => place.cleanup(),
  };
}

function reasonOf(testCase: Case, backend: BackendUnderTest): string {
  if (aboutOrder.has(testCase.name)) return " (needs ids and values in order)";
  const lacks = missing(testCase, backend.capabilities);
  return lacks.length === 0 ? "" : ` (needs ${lacks.join(", ")})`;
}

describe.each([memoryUnderTest, sqliteUnderTest])("an encrypted store with hidden ids on $name", (backend) => {
  for (const testCase of cases) {
    const reason = reasonOf(testCase, backend);
    test.skipIf(reason !== "")(
      `${testCase.name}${reason}`,
      async () => runCase(testCase, backend.capabilities, await locationOf(backend)),
      600_000,
    );
  }
});
