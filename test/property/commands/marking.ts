import assert from "node:assert/strict";
import fc from "fast-check";
import { NULL_TASK } from "../../../src/model/control-writes.ts";
import type { WritesInput } from "../../../src/model/interface/options.ts";
import { clone } from "../clone.ts";
import { setAttributes } from "../naive/finding.ts";
import { putWrites } from "../naive/writes.ts";
import { value } from "../states.ts";
import { outcomeOf, pickCheckpoint, pickThread, settle } from "../system.ts";
import { anyPick, anyThread, type Commands, chosenLine, commands, lineChoice } from "./command.ts";
import { attributes, putBoth } from "./put.ts";

export const labelling: Commands = commands(
  "label",
  fc.record({ ...lineChoice, pick: anyPick, label: fc.constantFrom("", "kept", "é\n") }),
  async ({ pick, label, ...choice }, model, real) => {
    const { line, handle } = chosenLine(choice, model, real);
    const id = pickCheckpoint(line, pick)?.id;
    const outcome = await outcomeOf(() => handle.label(id ?? "nobody", label));
    assert.equal("failed" in outcome ? outcome.failed : "", id === undefined ? "NOT_FOUND" : "");
    line.checkpoints = line.checkpoints.map((one) => (one.id === id ? { ...one, label } : one));
  },
);

export const describing: Commands = commands(
  "setAttributes",
  fc.record({ thread: anyThread, changes: attributes }),
  async ({ thread: choice, changes }, model, real) => {
    const thread = pickThread(model, choice);
    const outcome = await outcomeOf(() => real.store.thread(thread.id).setAttributes(changes));
    const isThere = model.threads.has(thread.id);
    assert.equal("failed" in outcome ? outcome.failed : "", isThere ? "" : "NOT_FOUND");
    if (isThere) setAttributes(thread, changes);
  },
);

const write = fc.record(
  { channel: fc.constantFrom("c", "error", "__interrupt__"), value, index: fc.integer({ min: -4, max: 3 }) },
  { requiredKeys: ["channel", "value"] },
);

/** Leaves only the first write of a call that names an index twice: the order in which such writes apply is not defined. */
function withoutRepeats(writes: readonly { index?: number; channel: string; value: unknown }[]): WritesInput["writes"] {
  const indexes = new Set<number>();
  const repeats = writes.some(({ index }, position) => indexes.size === indexes.add(index ?? position).size);
  return repeats ? writes.slice(0, 1) : writes;
}

const writesInput = fc.record(
  {
    task: fc.constantFrom("t1", "t2", NULL_TASK, "\u{1f600}", "\uffee"),
    node: fc.constantFrom("act", null),
    writes: fc.array(write, { maxLength: 3 }).map(withoutRepeats),
  },
  { requiredKeys: ["task", "writes"] },
);

/** Writes against a checkpoint; a checkpoint that does not exist yet is put right after, so that early writes are met too. */
export const writing: Commands = commands(
  "putWrites",
  fc.record({ ...lineChoice, pick: anyPick, input: writesInput }),
  async ({ pick, input, ...choice }, model, real) => {
    const { thread, namespace, line, handle } = chosenLine(choice, model, real);
    const waits = pick % 5 === 0;
    const early = waits ? `waiting${pick % 3}` : pick % 7 === 0 ? `early${model.now}` : undefined;
    const id = early ?? pickCheckpoint(line, pick)?.id;
    if (id === undefined) return;
    const result = await handle.putWrites(id, clone(input));
    assert.deepEqual({ ...result }, putWrites(line, id, input, model.now));
    settle(model, thread);
    if (!waits && early !== undefined && !line.checkpoints.some((one) => one.id === early)) {
      await putBoth(model, real, thread, namespace, { id: early, state: { early: true } }, {});
    }
  },
);
