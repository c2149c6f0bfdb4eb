import assert from "node:assert/strict";
import fc from "fast-check";
import type { PruneOptions } from "../../../src/model/arguments.ts";
import { prune } from "../naive/prune.ts";
import { lineOf, remove } from "../naive/thread.ts";
import { type Model, pickCheckpoint, pickNamespace, pickThread, type System, settle } from "../system.ts";

class Prune implements fc.AsyncCommand<Model, System> {
  readonly #thread: number;
  readonly #namespace: number;
  readonly #options: PruneOptions;

  constructor(thread: number, namespace: number, options: PruneOptions) {
    this.#thread = thread;
    this.#namespace = namespace;
    this.#options = options;
  }

  check(): boolean {
    return true;
  }

  async run(model: Model, real: System): Promise<void> {
    const thread = pickThread(model, this.#thread);
    const handle = real.store.thread(thread.id, { namespace: pickNamespace(this.#namespace) });
    const promised = await handle.prune({ ...this.#options, dryRun: true });
    const done = await handle.prune(this.#options);
    assert.deepEqual({ ...done }, { ...promised }, "dryRun promises what prune does");
    assert.equal(done.deleted, prune(thread, this.#options, model.now));
    assert.ok(Number.isSafeInteger(done.bytesReclaimed));
    settle(model, thread);
  }

  toString(): string {
    return `prune(${this.#thread}, ${this.#namespace}, ${fc.stringify(this.#options)})`;
  }
}

class DeleteCheckpoints implements fc.AsyncCommand<Model, System> {
  readonly #thread: number;
  readonly #namespace: number;
  readonly #picks: readonly number[];

  constructor(thread: number, namespace: number, picks: readonly number[]) {
    this.#thread = thread;
    this.#namespace = namespace;
    this.#picks = picks;
  }

  check(): boolean {
    return true;
  }

  async run(model: Model, real: System): Promise<void> {
    const thread = pickThread(model, this.#thread);
    const namespace = pickNamespace(this.#namespace);
    const line = lineOf(thread, namespace);
    const ids = ["unknown", ...this.#picks.map((pick) => pickCheckpoint(line, pick)?.id ?? "nobody")];
    const deleted = await real.store.thread(thread.id, { namespace }).deleteCheckpoints(ids);
    assert.equal(deleted, remove(thread, line, new Set(ids)));
    settle(model, thread);
  }

  toString(): string {
    return `deleteCheckpoints(${this.#thread}, ${this.#namespace}, ${this.#picks})`;
  }
}

class DeleteRun implements fc.AsyncCommand<Model, System> {
  readonly #thread: number;
  readonly #run: string;

  constructor(thread: number, run: string) {
    this.#thread = thread;
    this.#run = run;
  }

  check(): boolean {
    return true;
  }

  async run(model: Model, real: System): Promise<void> {
    const thread = pickThread(model, this.#thread);
    let expected = 0;
    for (const line of thread.lines.values()) {
      const doomed = line.checkpoints.filter(({ run }) => run === this.#run).map(({ id }) => id);
      expected += remove(thread, line, new Set(doomed));
    }
    assert.equal(await real.store.thread(thread.id).deleteRun(this.#run), expected);
    settle(model, thread);
  }

  toString(): string {
    return `deleteRun(${this.#thread}, ${this.#run})`;
  }
}

class DeleteThread implements fc.AsyncCommand<Model, System> {
  readonly #thread: number;

  constructor(thread: number) {
    this.#thread = thread;
  }

  check(): boolean {
    return true;
  }

  async run(model: Model, real: System): Promise<void> {
    const { id } = pickThread(model, this.#thread);
    await real.store.thread(id).delete();
    model.threads.delete(id);
    model.empty.delete(id);
    const lease = model.leases.get(id);
    if (lease !== undefined)
      model.leases.set(id, { epoch: lease.epoch, expires: Number.NEGATIVE_INFINITY, ended: true });
  }

  toString(): string {
    return `delete(${this.#thread})`;
  }
}

const thread = fc.nat({ max: 20 });
const namespace = fc.nat({ max: 5 });

export const pruning: fc.Arbitrary<fc.AsyncCommand<Model, System>> = fc
  .tuple(
    thread,
    namespace,
    fc.record(
      {
        keepLast: fc.oneof(fc.nat({ max: 6 }), fc.nat({ max: 80 })),
        // The clock moves by multiples of ten: an age ending in five is never met exactly.
        olderThan: fc.nat({ max: 40 }).map((n) => n * 5),
        keepLabelled: fc.boolean(),
        ancestors: fc.constantFrom("truncate" as const, "protect" as const),
      },
      { requiredKeys: [] },
    ),
  )
  .map(([...choice]) => new Prune(...choice));

export const deletingCheckpoints: fc.Arbitrary<fc.AsyncCommand<Model, System>> = fc
  .tuple(thread, namespace, fc.array(fc.nat({ max: 1000 }), { maxLength: 6 }))
  .map(([...choice]) => new DeleteCheckpoints(...choice));

export const deletingRun: fc.Arbitrary<fc.AsyncCommand<Model, System>> = fc
  .tuple(thread, fc.constantFrom("r1", "r2", "none"))
  .map(([...choice]) => new DeleteRun(...choice));

export const deletingThread: fc.Arbitrary<fc.AsyncCommand<Model, System>> = thread.map((one) => new DeleteThread(one));
