import assert from "node:assert/strict";
import fc from "fast-check";
import type { PutFields, PutInput, PutOptions } from "../../../src/model/arguments.ts";
import { exact } from "../../../src/testing/index.ts";
import { shaped, shapedInformation } from "../../../src/testing/support/snapshot.ts";
import { clone } from "../clone.ts";
import { put } from "../naive/put.ts";
import { lineOf, type NaiveThread, type Namespace } from "../naive/thread.ts";
import { type Change, changed, changes, type Free, fitting, type RawUpdate, rawUpdate, value } from "../states.ts";
import {
  failsAlike,
  type Model,
  outcomeOf,
  pickCheckpoint,
  pickNamespace,
  pickThread,
  type System,
  settle,
} from "../system.ts";

/** The version of the first checkpoint of a thread when none is given. */
const firstVersion = 0;

/** Puts on both sides and compares what comes back. */
export async function putBoth(
  model: Model,
  real: System,
  thread: NaiveThread,
  namespace: Namespace,
  input: PutInput<Free>,
  options: PutOptions,
): Promise<void> {
  const handle = real.store.thread(thread.id, { namespace });
  const line = lineOf(thread, namespace);
  const outcome = await outcomeOf(() => handle.put(clone(input), options));
  const { now } = model;
  const lease = model.leases.get(thread.id);
  const assigned = { id: "none", seq: Number.POSITIVE_INFINITY, createdAt: now, firstVersion, lease, now };
  if ("failed" in outcome) {
    await failsAlike(outcome.failed, () => put(thread, line, input, options, assigned));
    return;
  }
  const info = outcome.value;
  const replaces = line.checkpoints.some(({ id }) => id === info.id);
  if (replaces) assert.equal(info.id, input.id, "an id of the store's own making is new");
  else assert.ok(info.seq > thread.lastSeq, `seq ${info.seq} comes after ${thread.lastSeq}`);
  const expected = put(thread, line, input, options, { ...assigned, id: input.id ?? info.id, seq: info.seq });
  settle(model, thread);
  const { state: _, path: _path, next: _next, completed, interrupts, barriers, ...metadata } = shaped(expected);
  exact(shapedInformation(info), metadata, `what put gave for ${info.id}`);
  assert.ok(Array.isArray(completed) && Array.isArray(interrupts) && Array.isArray(barriers));
}

/** Which checkpoint to follow, and what to expect of the head. */
interface Aim {
  readonly parent: "head" | "root" | "unknown" | number;
  readonly expect: "nothing" | "head" | "wrong";
}

const aim: fc.Arbitrary<Aim> = fc.record({
  parent: fc.oneof(
    { weight: 12, arbitrary: fc.constant("head" as const) },
    { weight: 4, arbitrary: fc.nat({ max: 1000 }) },
    { weight: 1, arbitrary: fc.constantFrom("root" as const, "unknown" as const) },
  ),
  expect: fc.oneof(
    { weight: 8, arbitrary: fc.constant("nothing" as const) },
    { weight: 2, arbitrary: fc.constant("head" as const) },
    { weight: 1, arbitrary: fc.constant("wrong" as const) },
  ),
});

/** Present or absent, each on its own. */
const fields: fc.Arbitrary<PutFields> = fc.record(
  {
    step: fc.integer({ min: -2, max: 6 }),
    source: fc.constantFrom("input" as const, "loop" as const, "update" as const),
    node: fc.constantFrom("plan", "act", null),
    next: fc.array(fc.oneof(fc.constantFrom("act", "end"), fc.record({ node: fc.constant("n"), arg: value })), {
      maxLength: 2,
    }),
    completed: fc.array(fc.constantFrom("x", "y"), { maxLength: 2 }),
    interrupts: fc.array(fc.record({ id: fc.constant("i"), node: fc.constant("act"), value }), { maxLength: 1 }),
    barriers: fc.array(fc.constant({ node: "join", arrived: ["x"] }), { maxLength: 1 }),
    run: fc.constantFrom("r1", "r2", null),
    workflow: fc.constantFrom("w1", "w2", null),
    label: fc.constantFrom("", "kept"),
    createdAt: fc.integer({ min: -30, max: 5 }).map((tens) => 1_750_000_000_000 + tens * 10),
    stateVersion: fc.nat({ max: 3 }),
    metadata: fc.constantFrom({}, { tag: "m", list: [1, null] }),
    path: fc.constantFrom([], ["start"]),
  },
  { requiredKeys: [] },
);

const someFields = fc.oneof({ weight: 2, arbitrary: fc.constant({}) }, { weight: 3, arbitrary: fields });

/** Mostly an id of the store's making; sometimes one of a few, so that checkpoints are replaced. */
const id = fc.oneof(
  { weight: 5, arbitrary: fc.constant(undefined) },
  { weight: 3, arbitrary: fc.constantFrom("a", "b", "c", "é", "../x", "waiting0", "waiting1") },
  { weight: 1, arbitrary: fc.nat({ max: 1000 }) },
);

interface PutChoice {
  readonly thread: number;
  readonly namespace: number;
  readonly aim: Aim;
  readonly fields: PutFields;
  readonly id: string | number | undefined;
  readonly state: readonly Change[] | RawUpdate;
}

class Put implements fc.AsyncCommand<Model, System> {
  readonly #choice: PutChoice;

  constructor(choice: PutChoice) {
    this.#choice = choice;
  }

  check(): boolean {
    return true;
  }

  async run(model: Model, real: System): Promise<void> {
    const choice = this.#choice;
    const thread = pickThread(model, choice.thread);
    const namespace = pickNamespace(choice.namespace);
    const line = lineOf(thread, namespace);
    const replacedId = typeof choice.id === "number" ? pickCheckpoint(line, choice.id)?.id : choice.id;
    const replaced = line.checkpoints.find((one) => one.id === replacedId);
    const options = optionsOf(choice.aim, line);
    const parentId = options.parent !== undefined ? options.parent : (replaced?.parent ?? line.checkpoints.at(-1)?.id);
    const before = line.checkpoints.find((one) => one.id === parentId)?.state ?? {};
    const input: PutInput<Free> = {
      ...choice.fields,
      ...(replacedId === undefined ? {} : { id: replacedId }),
      ...("careless" in choice.state
        ? { update: fitting(before, choice.state) }
        : { state: changed(before, choice.state) as Free }),
    };
    await putBoth(model, real, thread, namespace, input, options);
  }

  toString(): string {
    return `put(${fc.stringify(this.#choice)})`;
  }
}

function optionsOf({ parent, expect }: Aim, line: ReturnType<typeof lineOf>): PutOptions {
  const chosen = typeof parent === "number" ? pickCheckpoint(line, parent)?.id : undefined;
  return {
    ...(parent === "root" ? { parent: null } : parent === "unknown" ? { parent: "unknown" } : {}),
    ...(chosen === undefined ? {} : { parent: chosen }),
    ...(expect === "head" ? { expect: line.checkpoints.at(-1)?.id ?? null } : {}),
    ...(expect === "wrong" ? { expect: "nobody" } : {}),
  };
}

/** Many small steps in a row, so that a short sequence of commands crosses the bounds of packs. */
class PutMany implements fc.AsyncCommand<Model, System> {
  readonly #thread: number;
  readonly #namespace: number;
  readonly #count: number;

  constructor(thread: number, namespace: number, count: number) {
    this.#thread = thread;
    this.#namespace = namespace;
    this.#count = count;
  }

  check(model: Readonly<Model>): boolean {
    const thread = pickThread(model, this.#thread);
    return lineOf(thread, pickNamespace(this.#namespace)).checkpoints.length < 400;
  }

  async run(model: Model, real: System): Promise<void> {
    const thread = pickThread(model, this.#thread);
    const namespace = pickNamespace(this.#namespace);
    const line = lineOf(thread, namespace);
    for (let n = 0; n < this.#count; n++) {
      const state = line.checkpoints.at(-1)?.state;
      const list = typeof state === "object" && state !== null && Array.isArray(Reflect.get(state, "list"));
      const grows = list && Object.getPrototypeOf(state) === Object.prototype;
      const message = { n, text: `message ${n}` };
      const input: PutInput<Free> = !grows
        ? { state: { list: [message], text: "a text", n } }
        : n % 5 === 4
          ? { state: { ...(state as Free), n, list: [...(state as { list: unknown[] }).list, message].slice(-30) } }
          : { update: { append: { list: [message] }, set: { n } } as never };
      await putBoth(model, real, thread, namespace, input, {});
    }
  }

  toString(): string {
    return `putMany(${this.#thread}, ${this.#namespace}, ${this.#count})`;
  }
}

const thread = fc.nat({ max: 20 });
const namespace = fc.nat({ max: 5 });

export const putState: fc.Arbitrary<fc.AsyncCommand<Model, System>> = fc
  .record({ thread, namespace, aim, fields: someFields, id, state: changes })
  .map((choice) => new Put(choice));

export const putUpdate: fc.Arbitrary<fc.AsyncCommand<Model, System>> = fc
  .record({ thread, namespace, aim, fields: someFields, id, state: rawUpdate })
  .map((choice) => new Put(choice));

/** Replaces a checkpoint by one that follows another: what is shown then leads elsewhere than the frames do. */
export const putElsewhere: fc.Arbitrary<fc.AsyncCommand<Model, System>> = fc
  .record({
    thread,
    namespace,
    aim: fc.record({ parent: fc.nat({ max: 1000 }), expect: fc.constant("nothing" as const) }),
    fields: fc.constant({}),
    id: fc.nat({ max: 1000 }),
    state: changes,
  })
  .map((choice) => new Put(choice));

export const putMany: fc.Arbitrary<fc.AsyncCommand<Model, System>> = fc
  .tuple(thread, namespace, fc.integer({ min: 20, max: 100 }))
  .map(([...choice]) => new PutMany(...choice));
