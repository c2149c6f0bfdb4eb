import fc from "fast-check";
import { expect, test } from "vitest";
import { open } from "../../../src/api/open.ts";
import type { Store } from "../../../src/api/store.ts";
import type { Backend } from "../../../src/backend.ts";
import { memory } from "../../../src/backends/memory/index.ts";
import { ThreadmarkError } from "../../../src/errors.ts";
import { sharedBackend } from "../../support/shared-backend.ts";

type State = { readonly text: string };

/** An operation; `at` and `on` choose among the checkpoints and threads there are when its turn comes. */
const operation = fc.record({
  kind: fc.constantFrom(
    "put",
    "put",
    "write",
    "write",
    "write",
    "compact",
    "compact",
    "delete",
    "prune",
    "fork",
    "replace",
  ),
  on: fc.nat(5),
  at: fc.nat(9),
});
type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;

/** The promise that a thread has made about one checkpoint, which may be replaced, or else deleted and pruned. */
interface Promised {
  /** Replaced while it is deleted, a checkpoint may rightly come back without its writes. */
  readonly replaceable: boolean;
  /** States that it was put with, and replaced with. */
  readonly texts: Set<string>;
  readonly tasks: Set<string>;
  /** Whether a deletion or a prune may have taken it. */
  mayBeGone: boolean;
}

/** A view of a backend whose every call waits until the scheduler lets it go on. */
function scheduled(inner: Backend, scheduler: fc.Scheduler): Backend {
  return sharedBackend(inner, {
    async read(reads) {
      await scheduler.schedule(Promise.resolve(), "read");
      return inner.read(reads);
    },
    async commit(batches) {
      await scheduler.schedule(Promise.resolve(), "commit");
      return inner.commit(batches);
    },
  });
}

class Writers {
  readonly threads = new Map<string, Map<string, Promised>>([["t0", new Map()]]);
  #count = 0;

  async run(store: Store<State>, { kind, on, at }: Operation): Promise<void> {
    const [id, promised] = [...this.threads][on % this.threads.size] as [string, Map<string, Promised>];
    const thread = store.thread(id);
    const name = `${this.#count++}`;
    const text = `${"a long text ".repeat(30)}${name}`;
    const [checkpoint, of] = [...promised][at % Math.max(1, promised.size)] ?? [];
    switch (kind) {
      case "put": {
        const parent = of && !of.mayBeGone && at % 3 === 0 ? { parent: checkpoint as string } : {};
        const replaceable = this.#count % 2 === 0;
        const own = { replaceable, texts: new Set([text]), tasks: new Set<string>(), mayBeGone: false };
        // Known at once: a prune may come between the commit and its answer.
        promised.set(name, own);
        await thread.put({ id: name, state: { text }, label: replaceable ? "kept" : "" }, parent).catch((error) => {
          own.mayBeGone = true;
          throw error;
        });
        return;
      }
      case "write":
        if (!of) return;
        await thread.putWrites(checkpoint as string, { task: name, writes: [{ channel: "c", value: name }] });
        of.tasks.add(name);
        return;
      case "compact":
        return store.compact();
      case "delete":
        if (!of || of.replaceable) return;
        of.mayBeGone = true;
        await thread.deleteCheckpoints([checkpoint as string]);
        return;
      case "prune":
        for (const one of promised.values()) one.mayBeGone ||= !one.replaceable;
        await thread.prune({ keepLast: 1 + at, keepLabelled: true });
        // A prune that was overtaken is planned again, and then sees the puts that came meanwhile.
        for (const one of promised.values()) one.mayBeGone ||= !one.replaceable;
        return;
      case "replace":
        if (!of?.replaceable || of.mayBeGone) return;
        of.texts.add(text);
        await thread.put({ id: checkpoint as string, state: { text }, label: "kept" });
        return;
      case "fork": {
        if (!of || of.mayBeGone) return;
        const inherited = new Map(
          [...promised].map(([one, there]) => [one, { ...there, tasks: new Set(there.tasks), mayBeGone: true }]),
        );
        await thread.fork({ at: checkpoint as string, into: `fork ${name}` });
        this.threads.set(`fork ${name}`, inherited);
      }
    }
  }

  async check(store: Store<State>): Promise<void> {
    expect(await store.verify()).toEqual({ ok: true, faults: [] });
    for (const [id, promised] of this.threads) {
      const thread = store.thread(id);
      for (const [checkpoint, { texts, tasks, mayBeGone }] of promised) {
        const found = await thread.get(checkpoint);
        if (!found) expect(mayBeGone, `${checkpoint} of ${id} may be gone`).toBe(true);
        else {
          expect([...texts], `the state of ${checkpoint} of ${id}`).toContain(found.state.text);
          const written = (await thread.writes(checkpoint)).map(({ task }) => task);
          expect(written, `the writes of ${checkpoint} of ${id}`).toEqual(expect.arrayContaining([...tasks]));
        }
      }
    }
  }
}

test("every acknowledged write of a checkpoint that remains is there, however compactions, deletions, prunes, forks and replacements of two stores interleave", async () => {
  const operations = fc.array(operation, { minLength: 2, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), operations, operations, operations, async (scheduler, first, one, other) => {
      const backend = memory();
      const writers = new Writers();
      const direct = await open<State>(scheduled(backend, freely), { packRows: 3 });
      for (const operation of first) await writers.run(direct, operation);
      const sides = [one, other].map(async (side) => {
        const store = await open<State>(scheduled(backend, scheduler), { packRows: 3 });
        for (const operation of side) {
          await writers.run(store, operation).catch((error: unknown) => {
            // The other side may have deleted what this one names.
            if (!(error instanceof ThreadmarkError && error.code === "NOT_FOUND")) throw error;
          });
        }
      });
      await scheduler.waitFor(Promise.all(sides));
      await writers.check(await open<State>(scheduled(backend, freely)));
    }),
    { numRuns: 300 },
  );
});

const freely = { schedule: <T>(task: Promise<T>) => task } as unknown as fc.Scheduler;
