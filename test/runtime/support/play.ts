import assert from "node:assert/strict";
import fc from "fast-check";
import { type OpenOptions, open, type Store } from "../../../src/index.ts";
import type { Durability, RunError, RunResult } from "../../../src/runtime/index.ts";
import type { Medium } from "./medium.ts";
import { answerTo, build, type Plan, plans, type State, World } from "./random-graph.ts";

/** A call of run or resume, and its outcome. */
export interface Turn {
  readonly durability: Durability;
  /** How many of the open questions are answered. */
  readonly answers: number;
  readonly between: "nothing" | "prune" | "reopen";
  /** The commit of this turn that the medium loses; 0 for none. */
  readonly lost: number;
  readonly maxSteps: number;
}

const turn = (lossy: boolean): fc.Arbitrary<Turn> =>
  fc.record({
    durability: fc.constantFrom("sync", "async", "exit"),
    answers: fc.integer({ min: 1, max: 3 }),
    between: fc.constantFrom("nothing", "prune", "reopen"),
    lost: lossy ? fc.integer({ min: 1, max: 12 }) : fc.constant(0),
    maxSteps: fc.integer({ min: 1, max: 5 }),
  });

/** After the turns given, calm ones: whatever happened, the run then ends. */
const calm: Turn = { durability: "sync", answers: 9, between: "nothing", lost: 0, maxSteps: 100 };

type Fresh = (options: OpenOptions) => Promise<{ store: Store<unknown>; medium: Medium }>;

/** Random graphs in random turns end as they do undisturbed; unless commits are lost, no task that ended is run again. */
export async function playMany(fresh: Fresh, lossy: boolean, numRuns: number): Promise<void> {
  const turns = fc.array(turn(lossy), { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(plans, turns, (plan, list) => play(fresh, plan, list, lossy)),
    { numRuns },
  );
}

async function play(fresh: Fresh, plan: Plan, turns: readonly Turn[], lossy: boolean): Promise<void> {
  const expected = await build(plan, new World(), true).run({ out: [] });
  let now = 1_000_000;
  const clock = (): number => now;
  const { store: first, medium } = await fresh({ clock });
  const world = new World();
  let store = first;
  let result: RunResult<State> | undefined;
  for (let count = 0; result?.status !== "done"; count += 1) {
    assert.ok(count < 400, "the run makes no progress");
    const { durability, answers, between, lost, maxSteps } = turns[count] ?? calm;
    if (between === "prune") await store.thread("t").prune({ keepLast: 1 });
    if (between === "reopen") store = await open(medium, { clock });
    // A lease that a lossy medium kept from being given up has run out by then.
    now += 1_000_000;
    const flow = build(plan, world, false, store);
    const shown = await flow.state("t");
    const asked = (shown?.interrupts ?? []).slice(0, answers).map((one) => [one.id, answerTo(one.value)]);
    const value = asked.length === 0 ? {} : { answers: Object.fromEntries(asked) };
    let commits = 0;
    medium.fails = () => {
      commits += 1;
      return commits === lost;
    };
    const options = { thread: "t", durability, maxSteps };
    try {
      result = await (shown === undefined ? flow.run({ out: [] }, options) : flow.resume({ ...options, ...value }));
    } catch (error) {
      const expectable = lossy ? ["NODE_FAILED", "STEP_LIMIT", "BACKEND"] : ["NODE_FAILED", "STEP_LIMIT"];
      if (!expectable.includes((error as RunError).code)) throw error;
    }
    medium.fails = () => false;
  }
  assert.deepEqual(result.state, expected.state);
  assert.deepEqual((await store.thread("t").latest())?.state, expected.state);
  if (!lossy)
    assert.deepEqual(
      [...world.ended].filter(([, count]) => count > 1),
      [],
    );
  assert.deepEqual((await store.verify()).faults, []);
}
