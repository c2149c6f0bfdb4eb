import assert from "node:assert/strict";
import fc from "fast-check";
import type { AttributeChanges } from "../../../src/model/attributes.ts";
import type { PutFields, PutInput, PutOptions } from "../../../src/model/interface/options.ts";
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
import { anyPick, type Commands, chosenLine, commands, type LineChoice, lineChoice } from "./command.ts";

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

export const attributes: fc.Arbitrary<AttributeChanges> = fc.record(
  {
    tenant: fc.constantFrom("acme", "ab", "é\u0001", null),
    cost: fc.constantFrom(-1, 0, 1.5, 2, null),
    open: fc.constantFrom(true, false, null),
  },
  { requiredKeys: [] },
);

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
    interrupts: fc.array(fc.record({ id: fc.constantFrom("t1", "i"), node: fc.constant("act"), value }), {
      maxLength: 2,
    }),
    barriers: fc.array(fc.constant({ node: "join", arrived: ["x"] }), { maxLength: 1 }),
    run: fc.constantFrom("r1", "r2", null),
    workflow: fc.constantFrom("w1", "w2", null),
    label: fc.constantFrom("", "kept"),
    createdAt: fc.integer({ min: -30, max: 5 }).map((tens) => 1_750_000_000_000 + tens * 10),
    stateVersion: fc.nat({ max: 3 }),
    metadata: fc.constantFrom({}, { tag: "m", list: [1, null] }),
    path: fc.constantFrom([], ["start"]),
    attributes,
    due: fc.constantFrom(null, 1_750_000_000_000, 1_760_000_000_000),
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

interface PutChoice extends LineChoice {
  readonly aim: Aim;
  readonly fields: PutFields;
  readonly id: string | number | undefined;
  readonly state: readonly Change[] | RawUpdate;
}

async function putChosen(choice: PutChoice, model: Model, real: System): Promise<void> {
  const { thread, namespace, line } = chosenLine(choice, model, real);
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

function optionsOf({ parent, expect }: Aim, line: ReturnType<typeof lineOf>): PutOptions {
  const chosen = typeof parent === "number" ? pickCheckpoint(line, parent)?.id : undefined;
  return {
    ...(parent === "root" ? { parent: null } : parent === "unknown" ? { parent: "unknown" } : {}),
    ...(chosen === undefined ? {} : { parent: chosen }),
    ...(expect === "head" ? { expect: line.checkpoints.at(-1)?.id ?? null } : {}),
    ...(expect === "wrong" ? { expect: "nobody" } : {}),
  };
}

export const putState: Commands = commands(
  "put",
  fc.record({ ...lineChoice, aim, fields: someFields, id, state: changes }),
  putChosen,
);

export const putUpdate: Commands = commands(
  "put",
  fc.record({ ...lineChoice, aim, fields: someFields, id, state: rawUpdate }),
  putChosen,
);

/** Replaces a checkpoint by one that follows another: the parent it shows then differs from the frame it builds on. */
export const putElsewhere: Commands = commands(
  "put",
  fc.record({
    ...lineChoice,
    aim: fc.record({ parent: anyPick, expect: fc.constant("nothing" as const) }),
    fields: fc.constant({}),
    id: anyPick,
    state: changes,
  }),
  putChosen,
);

/** Puts many small steps in a row, so that a short sequence of commands crosses the bounds of packs. */
export const putMany: Commands = commands(
  "putMany",
  fc.record({ ...lineChoice, count: fc.integer({ min: 20, max: 100 }) }),
  async ({ count, ...choice }, model, real) => {
    const { thread, namespace, line } = chosenLine(choice, model, real);
    for (let n = 0; n < count; n++) {
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
  },
  (choice, model) => lineOf(pickThread(model, choice.thread), pickNamespace(choice.namespace)).checkpoints.length < 400,
);
