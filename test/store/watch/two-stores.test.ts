import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { mailboxOf } from "../../../src/api/mailbox.ts";
import { open } from "../../../src/api/open.ts";
import type { Store } from "../../../src/api/store.ts";
import { campaignLocations } from "../../support/places.ts";

/** An operation on a thread, by one of two stores. */
const operation = fc.record({
  kind: fc.constantFrom("put", "put", "put", "nested", "writes", "label", "replace", "fork", "mail", "puts"),
  store: fc.integer({ min: 0, max: 1 }),
});

type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;

/** How a watch is left and begun again: after how many changes, and by which store. */
const restarts = fc.array(fc.record({ after: fc.integer({ min: 1, max: 9 }), store: fc.integer({ min: 0, max: 1 }) }), {
  maxLength: 6,
});

/** Runs the operations of one thread one after the other, and notes what a watch must tell of them. */
async function run(
  stores: readonly Store[],
  thread: string,
  script: readonly Operation[],
  expected: Expected,
): Promise<void> {
  const tell = (id: string, change: string): void => void expected.set(id, [...(expected.get(id) ?? []), change]);
  let head = "";
  for (const [n, { kind, store }] of script.entries()) {
    const handle = (stores[store] ?? (stores[0] as Store)).thread(thread);
    const id = `${thread}-${n}`;
    const isFirst = head === "";
    if (isFirst || kind === "put" || kind === "puts") {
      const ids = kind === "puts" ? [0, 1, 2].map((part) => `${id}.${part}`) : [id];
      await Promise.all(ids.map((one) => handle.put({ id: one, state: { n } })));
      for (const one of ids) tell(thread, `put ${one}`);
      head = ids.at(-1) as string;
    } else if (kind === "nested") {
      await (stores[store] as Store).thread(thread, { namespace: ["sub"] }).put({ id, state: {} });
      tell(thread, `put ${id}`);
    } else if (kind === "writes") {
      await handle.putWrites(head, { task: id, writes: [{ channel: "c", value: n }] });
      tell(thread, `writes ${head}`);
    } else if (kind === "label") {
      await handle.label(head, id);
      tell(thread, `label ${head}`);
    } else if (kind === "replace") {
      await handle.put({ id: head, state: { replaced: n } });
      tell(thread, `put ${head}`);
    } else if (kind === "fork") {
      await handle.fork({ into: id });
      tell(id, `fork ${head}`);
    } else {
      await mailboxOf(handle).send({ id, kind: "signal" });
      tell(thread, `mail ${id}`);
    }
  }
}

type Expected = Map<string, readonly string[]>;

async function follow(
  stores: readonly Store[],
  scripts: readonly (readonly Operation[])[],
  plan: readonly { after: number; store: number }[],
): Promise<void> {
  const expected: Expected = new Map();
  const told: Expected = new Map();
  let watch = (stores[0] as Store).watch();
  await watch.cursor();
  let done = false;
  const writing = Promise.all(scripts.map((script, index) => run(stores, `t${index}`, script, expected)));
  void writing.finally(() => {
    done = true;
  });
  const total = (): number => [...expected.values()].reduce((sum, list) => sum + list.length, 0);
  const left = [...plan];
  let count = 0;
  let next = left.shift();
  let since = 0;
  while (!done || count < total()) {
    if (count >= total()) {
      await new Promise((resolve) => setImmediate(resolve));
      continue;
    }
    const { value } = await watch.next();
    if (!value) throw new Error("the watch has ended");
    told.set(value.thread, [...(told.get(value.thread) ?? []), `${value.kind} ${value.id}`]);
    count += 1;
    since += 1;
    if (since !== next?.after) continue;
    const { cursor } = value;
    await watch.return();
    watch = (stores[next.store] as Store).watch({ after: cursor });
    next = left.shift();
    since = 0;
  }
  await writing;
  await watch.return();
  expect(Object.fromEntries([...told].sort())).toEqual(Object.fromEntries([...expected].sort()));
}

describe.each(campaignLocations)("watching a store on $name", (backend) => {
  const runs = Math.ceil(40 * backend.share);
  test(`a watch on ${backend.name} tells every change of two stores once, each thread's in order, however often it begins again`, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(operation, { minLength: 1, maxLength: 14 }), { minLength: 1, maxLength: 4 }),
        restarts,
        async (scripts, plan) => {
          const place = await backend.make();
          const first = await open(place.url, place.options);
          const both = backend.capabilities.processes || place.shared;
          const stores = [first, both ? await open(place.url, place.options) : first];
          try {
            await follow(stores, scripts, plan);
          } finally {
            for (const store of new Set(stores)) await store.close();
            await place.cleanup();
          }
        },
      ),
      { numRuns: runs },
    );
  }, 300_000);
});
