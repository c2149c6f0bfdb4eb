import assert from "node:assert/strict";
import fc from "fast-check";
import type { WritesInput } from "../../../src/model/arguments.ts";
import { clone } from "../clone.ts";
import { lineOf } from "../naive/thread.ts";
import { putWrites } from "../naive/writes.ts";
import { value } from "../states.ts";
import { type Model, outcomeOf, pickCheckpoint, pickNamespace, pickThread, type System, settle } from "../system.ts";
import { putBoth } from "./put.ts";

class Label implements fc.AsyncCommand<Model, System> {
  readonly #thread: number;
  readonly #namespace: number;
  readonly #pick: number;
  readonly #text: string;

  constructor(thread: number, namespace: number, pick: number, text: string) {
    this.#thread = thread;
    this.#namespace = namespace;
    this.#pick = pick;
    this.#text = text;
  }

  check(): boolean {
    return true;
  }

  async run(model: Model, real: System): Promise<void> {
    const thread = pickThread(model, this.#thread);
    const namespace = pickNamespace(this.#namespace);
    const line = lineOf(thread, namespace);
    const id = pickCheckpoint(line, this.#pick)?.id;
    const outcome = await outcomeOf(() =>
      real.store.thread(thread.id, { namespace }).label(id ?? "nobody", this.#text),
    );
    assert.equal("failed" in outcome ? outcome.failed : "", id === undefined ? "NOT_FOUND" : "");
    line.checkpoints = line.checkpoints.map((one) => (one.id === id ? { ...one, label: this.#text } : one));
  }

  toString(): string {
    return `label(${this.#thread}, ${this.#namespace}, ${this.#pick}, ${this.#text})`;
  }
}

/** Writes against a checkpoint; where there is none yet, it is put right after, so that early writes are met too. */
class PutWrites implements fc.AsyncCommand<Model, System> {
  readonly #thread: number;
  readonly #namespace: number;
  readonly #pick: number;
  readonly #input: WritesInput;

  constructor(thread: number, namespace: number, pick: number, input: WritesInput) {
    this.#thread = thread;
    this.#namespace = namespace;
    this.#pick = pick;
    this.#input = input;
  }

  check(): boolean {
    return true;
  }

  async run(model: Model, real: System): Promise<void> {
    const thread = pickThread(model, this.#thread);
    const namespace = pickNamespace(this.#namespace);
    const line = lineOf(thread, namespace);
    const waits = this.#pick % 5 === 0;
    const early = waits ? `waiting${this.#pick % 3}` : this.#pick % 7 === 0 ? `early${model.now}` : undefined;
    const id = early ?? pickCheckpoint(line, this.#pick)?.id;
    if (id === undefined) return;
    const result = await real.store.thread(thread.id, { namespace }).putWrites(id, clone(this.#input));
    assert.deepEqual({ ...result }, putWrites(line, id, this.#input, model.now));
    settle(model, thread);
    if (!waits && early !== undefined && !line.checkpoints.some((one) => one.id === early)) {
      await putBoth(model, real, thread, namespace, { id: early, state: { early: true } }, {});
    }
  }

  toString(): string {
    return `putWrites(${this.#thread}, ${this.#namespace}, ${this.#pick}, ${fc.stringify(this.#input)})`;
  }
}

const thread = fc.nat({ max: 20 });
const namespace = fc.nat({ max: 5 });
const pick = fc.nat({ max: 1000 });

export const labelling: fc.Arbitrary<fc.AsyncCommand<Model, System>> = fc
  .tuple(thread, namespace, pick, fc.constantFrom("", "kept", "é\n"))
  .map(([...choice]) => new Label(...choice));

const write = fc.record(
  { channel: fc.constantFrom("c", "error"), value, index: fc.integer({ min: -4, max: 3 }) },
  { requiredKeys: ["channel", "value"] },
);

/** One call that names an index twice asks for two things at once: the design does not say which of them it gets. */
function withoutRepeats(writes: readonly { index?: number; channel: string; value: unknown }[]): WritesInput["writes"] {
  const indexes = new Set<number>();
  const repeats = writes.some(({ index }, position) => indexes.size === indexes.add(index ?? position).size);
  return repeats ? writes.slice(0, 1) : writes;
}

export const writing: fc.Arbitrary<fc.AsyncCommand<Model, System>> = fc
  .tuple(
    thread,
    namespace,
    pick,
    fc.record(
      {
        task: fc.constantFrom("t1", "t2", "\u{1f600}", "\uffee"),
        node: fc.constantFrom("act", null),
        writes: fc.array(write, { maxLength: 3 }).map(withoutRepeats),
      },
      { requiredKeys: ["task", "writes"] },
    ),
  )
  .map(([...choice]) => new PutWrites(...choice));
