import assert from "node:assert/strict";
import fc from "fast-check";
import type { WritesInput } from "../../../src/model/options.ts";
import { clone } from "../clone.ts";
import { putWrites } from "../naive/writes.ts";
import { value } from "../states.ts";
import { outcomeOf, pickCheckpoint, settle } from "../system.ts";
import { anyPick, type Commands, chosenLine, commands, lineChoice } from "./command.ts";
import { putBoth } from "./put.ts";

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

const write = fc.record(
  { channel: fc.constantFrom("c", "error"), value, index: fc.integer({ min: -4, max: 3 }) },
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
    task: fc.constantFrom("t1", "t2", "\u{1f600}", "\uffee"),
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
