import assert from "node:assert/strict";
import fc from "fast-check";
import { ThreadmarkError } from "../../../src/errors.ts";
import type { ForkOptions } from "../../../src/model/interface/options.ts";
import { clone } from "../clone.ts";
import { chosen, copy, fork, isAmbiguous } from "../naive/fork.ts";
import { lineOf, type NaiveThread } from "../naive/thread.ts";
import { type Free, value } from "../states.ts";
import { failsAlike, type Model, outcomeOf, pickCheckpoint, pickFreeName, pickThread, settle } from "../system.ts";
import { anyPick, anyThread, type Commands, commands } from "./command.ts";

/** More threads than this only make a sequence slow. */
const enough = 9;

interface ForkChoice {
  readonly thread: number;
  readonly at: "head" | "unknown" | { readonly step: number } | number;
  readonly into: "new" | "named" | "existing" | "free";
  readonly edits: Free | undefined;
  readonly none: boolean;
  readonly label: string | undefined;
}

/** A new thread under a name that may have been an empty one's: with that its lease ends. */
function taken(model: Model, made: NaiveThread): void {
  settle(model, made);
  const lease = model.leases.get(made.id);
  if (lease !== undefined) model.leases.set(made.id, { ...lease, expires: Number.NEGATIVE_INFINITY, ended: true });
}

function optionsOf(choice: ForkChoice, model: Readonly<Model>): ForkOptions<Free> {
  const { thread, at, into, edits, none, label } = choice;
  const picked = typeof at === "number" ? pickCheckpoint(lineOf(pickThread(model, thread), []), at)?.id : at;
  const existing = [...model.threads.keys()].find((id) => id !== pickThread(model, thread).id);
  const target =
    into === "named"
      ? `f${model.made}`
      : into === "existing"
        ? existing
        : into === "free"
          ? pickFreeName(model, thread)
          : undefined;
  return {
    ...(picked === undefined || picked === "head" ? {} : { at: picked }),
    ...(target === undefined ? {} : { into: target }),
    ...(edits === undefined ? {} : { edits }),
    ...(none ? { history: "none" as const } : {}),
    ...(label === undefined ? {} : { label }),
  };
}

const forkChoice: fc.Arbitrary<ForkChoice> = fc.record({
  thread: anyThread,
  at: fc.oneof(
    { weight: 3, arbitrary: fc.constant("head" as const) },
    { weight: 8, arbitrary: anyPick },
    { weight: 1, arbitrary: fc.constant("unknown" as const) },
    { weight: 2, arbitrary: fc.record({ step: fc.integer({ min: -2, max: 9 }) }) },
  ),
  into: fc.oneof(
    { weight: 5, arbitrary: fc.constant("new" as const) },
    { weight: 4, arbitrary: fc.constant("named" as const) },
    { weight: 1, arbitrary: fc.constant("existing" as const) },
    { weight: 2, arbitrary: fc.constant("free" as const) },
  ),
  edits: fc.option(fc.dictionary(fc.constantFrom("list", "n", "extra"), value, { maxKeys: 2, noNullPrototype: true }), {
    nil: undefined,
  }),
  none: fc.nat({ max: 3 }).map((n) => n === 0),
  label: fc.constantFrom(undefined, "mine"),
});

function canFork(choice: ForkChoice, model: Readonly<Model>): boolean {
  const source = pickThread(model, choice.thread);
  const options = optionsOf(choice, model);
  if (model.threads.size >= enough || source.id === options.into) return false;
  try {
    const at = chosen(source, options.at);
    return options.history === "none" || !isAmbiguous(source, at);
  } catch {
    return choice.into !== "existing";
  }
}

export const forking: Commands = commands(
  "fork",
  forkChoice,
  async (choice, model, real) => {
    const source = pickThread(model, choice.thread);
    const options = optionsOf(choice, model);
    model.made++;
    const outcome = await outcomeOf(() => real.store.thread(source.id).fork(clone(options)));
    if ("failed" in outcome) {
      await failsAlike(outcome.failed, () => {
        if (options.into !== undefined && model.threads.has(options.into)) {
          throw new ThreadmarkError("CONFLICT", `${options.into} exists`);
        }
        fork(source, options, { thread: "none", now: model.now, top: { id: "none", seq: 0, createdAt: 0 } });
      });
      return;
    }
    const made = outcome.value;
    assert.equal(made.id, options.into ?? made.id);
    assert.ok(!model.threads.has(made.id), "a fork is a new thread");
    const adds = options.edits !== undefined || options.history === "none";
    const head = await made.latest();
    assert.ok(head !== undefined, "a fork has a head");
    const top = { id: head.id, seq: head.seq, createdAt: model.now };
    const expected = fork(source, options, { thread: made.id, now: model.now, ...(adds ? { top } : {}) });
    if (adds) {
      const others = [...expected.lines.values()].flatMap((line) =>
        line.checkpoints.filter((one) => one.id !== head.id),
      );
      assert.ok(
        others.every(({ seq }) => seq < head.seq),
        "the edit of a fork is its last commit",
      );
      const parent = lineOf(source, []).checkpoints.find((one) => one.id === head.id);
      assert.equal(parent, undefined, "the edit of a fork has an id of its own");
    }
    taken(model, expected);
  },
  canFork,
);

export const copying: Commands = commands(
  "copy",
  fc.record({ thread: anyThread, existing: fc.nat({ max: 9 }).map((n) => n === 0), detached: fc.boolean() }),
  async ({ thread, existing, detached }, model, real) => {
    const source = pickThread(model, thread);
    const free = thread % 2 === 0 && !detached ? pickFreeName(model, thread) : undefined;
    const into = existing ? source.id : free !== undefined && free !== source.id ? free : `k${model.made++}`;
    const outcome = await outcomeOf(() => real.store.thread(source.id).copy(into, { detached }));
    if (existing) assert.deepEqual(outcome, { failed: "CONFLICT" });
    else if (!model.threads.has(source.id)) assert.deepEqual(outcome, { failed: "NOT_FOUND" });
    else {
      assert.ok("value" in outcome && outcome.value.id === into);
      const made = copy(source, into, model.now);
      taken(model, detached ? { ...made, forkedFrom: null } : made);
    }
  },
  ({ thread, existing }, model) => {
    if (model.threads.size >= enough) return false;
    return !existing || model.threads.has(pickThread(model, thread).id);
  },
);
