import assert from "node:assert/strict";
import { open } from "../../../src/api/open.ts";
import type { Store } from "../../../src/api/store.ts";
import type { Backend } from "../../../src/backend.ts";
import type { ValueDriver } from "../../../src/large-values/index.ts";
import { sharedMemory } from "../../../src/testing/index.ts";
import { sharedBackend } from "../../support/shared-backend.ts";
import { slow } from "../interleaving/slow-backends.ts";
import { censusOf, documentOf } from "./support.ts";

type Values = Record<string, unknown>;

/** A process that ends at one of its calls to the backend or to the driver, before or after the call has had its effect. */
export class Mortal {
  calls = 0;
  readonly ended: Promise<void>;
  readonly #at: number;
  readonly #after: boolean;
  #isDead = false;
  #end: () => void = () => {};

  constructor(at: number, after: boolean) {
    this.#at = at;
    this.#after = after;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  /** Makes a call, unless the process has ended: nothing of it is heard any more. */
  async call<T>(action: () => Promise<T>): Promise<T> {
    if (this.#isDead) return new Promise(() => {});
    this.calls += 1;
    if (this.calls !== this.#at) return action();
    this.#isDead = true;
    if (this.#after) await action();
    this.#end();
    return new Promise(() => {});
  }

  backend(inner: Backend): Backend {
    return sharedBackend(inner, {
      read: (reads) => this.call(() => inner.read(reads)),
      commit: (batches) => this.call(() => inner.commit(batches)),
    });
  }

  driver(inner: ValueDriver): ValueDriver {
    return {
      put: (name, bytes) => this.call(() => inner.put(name, bytes)),
      get: (name) => this.call(() => inner.get(name)),
      delete: (name) => this.call(() => inner.delete(name)),
      list: () => inner.list(),
    };
  }
}

export class Objects implements ValueDriver {
  readonly all = new Map<string, { readonly bytes: Uint8Array; readonly at: number }>();

  async put(name: string, bytes: Uint8Array): Promise<void> {
    this.all.set(name, { bytes, at: Date.now() });
  }

  async get(name: string): Promise<Uint8Array | undefined> {
    return this.all.get(name)?.bytes;
  }

  async delete(name: string): Promise<void> {
    this.all.delete(name);
  }

  async *list(): AsyncGenerator<{ readonly name: string; readonly at: number }> {
    for (const [name, { at }] of this.all) yield { name, at };
  }
}

/** A few documents, so that all processes come to the same ones again and again. */
const documents = Array.from({ length: 4 }, (_, n) => documentOf(300, n));

function opened(backend: Backend, driver: ValueDriver | undefined, clock = Date.now): Promise<Store<Values>> {
  return open<Values>(backend, { clock, packRows: 4, largeValues: { from: 200, ...(driver && { driver }) } });
}

/** By then, objects that no record names are no longer those of a commit under way. */
const nextWeek = (): number => Date.now() + 7 * 24 * 3_600_000;

/**
 * Writes large values and gives them up again: forks, puts, replacements, writes, prunes, deletions and compactions. Now and then it
 * prunes or deletes the thread of the other, who remembers values that are then gone.
 */
async function work(store: Store<Values>, name: string, others: string, seed: number): Promise<void> {
  let state = seed * 7919 + name.length;
  const below = (most: number): number => {
    state = (state * 48_271 + 11) % 2_147_483_647;
    return state % most;
  };
  const any = (): string => documents[below(documents.length)] as string;
  for (let round = 0; round < 2; round++) {
    const thread = store.thread(name);
    await thread.delete();
    await store.thread("root").fork({ into: name, ...(below(2) === 0 && { edits: { first: any() } }) });
    for (let step = 0; step < 7; step++) {
      if (below(3) === 0) await store.thread(others).prune({ keepLast: 1 });
      else if (below(9) === 0) await store.thread(others).delete();
      const { id } = await thread.put({ id: `c${below(6)}`, update: { set: { [`f${below(3)}`]: any() } } });
      if (below(3) === 0)
        await thread.putWrites(id, { task: "t", writes: [{ channel: "c", index: -1, value: any() }] });
      if (below(3) === 0) await thread.putWrites(id, { task: "u", writes: [{ channel: "c", value: any() }] });
      if (below(4) === 0) await thread.prune({ keepLast: 2 });
    }
    if (below(2) === 0) await store.compact();
  }
}

interface Run {
  readonly seed: number;
  /** The call at which the first of two processes ends. */
  readonly at: number;
  readonly after: boolean;
  readonly outside: boolean;
}

/** Returns the calls of the process that ended, or might have, and whether it did. */
async function run({ seed, at, after, outside }: Run): Promise<{ readonly calls: number; readonly isDead: boolean }> {
  const place = sharedMemory();
  const objects = outside ? new Objects() : undefined;
  const first = await opened(place, objects);
  await first.thread("root").put({ state: { kept: documentOf(400, "kept"), f0: documents[0] } });
  await first.close();
  const mortal = new Mortal(at, after);
  const dying = await opened(mortal.backend(slow(place, 3)), objects && mortal.driver(objects));
  const other = await opened(slow(place, 4), objects);
  await Promise.all([Promise.race([work(dying, "a", "bb", seed), mortal.ended]), work(other, "bb", "a", seed)]);
  if (!mortal.isDead) await dying.close();
  await other.close();
  const store = await opened(place, objects, nextWeek);
  const check = async (): Promise<void> => {
    assert.deepEqual(await store.verify(), { ok: true, faults: [] });
    for await (const { id } of store.threads()) assert.ok(await store.thread(id).latest());
  };
  await check();
  await store.compact();
  await check();
  const { stored, referred } = await censusOf(place);
  assert.deepEqual(stored, referred, "the values that are stored are those that are referred to");
  if (objects) assert.equal(objects.all.size, stored.length, "every object is named by a record");
  await store.close();
  return { calls: mortal.calls, isDead: mortal.isDead };
}

/**
 * Ends a process at one of its calls after the other, or at each `stride`th of them, before the call and after it, beside another
 * that uses the same values, and checks each time that no record refers to a value that is gone. Returns how many processes were
 * ended.
 */
export async function survivesStops(stops: number, outside: boolean, stride = 1): Promise<number> {
  let done = 0;
  for (let seed = 1; done < stops; seed++) {
    const { calls } = await run({ seed, at: Number.POSITIVE_INFINITY, after: false, outside });
    for (let at = 1 + (seed % stride); at <= calls && done < stops; at += stride) {
      for (const after of [false, true]) {
        try {
          if ((await run({ seed, at, after, outside })).isDead) done += 1;
        } catch (cause) {
          throw new Error(`Seed ${seed}, ended ${after ? "after" : "before"} call ${at}.`, { cause });
        }
      }
    }
  }
  return done;
}
