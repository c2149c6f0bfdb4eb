import assert from "node:assert/strict";
import fc from "fast-check";
import type { PruneOptions } from "../../../src/index.ts";
import { prune } from "../naive/prune.ts";
import { remove } from "../naive/thread.ts";
import { SCALE } from "../scale.ts";
import { pickCheckpoint, pickThread, settle } from "../system.ts";
import { anyPick, anyThread, type Commands, chosenLine, commands, lineChoice } from "./command.ts";

const rules = fc.record(
  {
    keepLast: fc.oneof(fc.nat({ max: 6 }), fc.nat({ max: 80 })),
    // The clock moves by multiples of ten scales: an age that ends in five is never met exactly.
    olderThan: fc.nat({ max: 40 }).map((n) => n * 5 * SCALE),
    keepLabelled: fc.boolean(),
    ancestors: fc.constantFrom("truncate" as const, "protect" as const),
  },
  { requiredKeys: [] },
);

export const pruning: Commands = commands(
  "prune",
  fc.record({ ...lineChoice, options: rules }),
  async ({ options, ...choice }, model, real) => {
    const { thread, handle } = chosenLine(choice, model, real);
    const rule = options as PruneOptions;
    if (options.keepLast === undefined && options.olderThan === undefined) {
      await assert.rejects(handle.prune(rule), TypeError);
      return;
    }
    const promised = await handle.prune({ ...rule, dryRun: true });
    const done = await handle.prune(rule);
    assert.deepEqual({ ...done }, { ...promised }, "dryRun promises what prune does");
    assert.equal(done.deleted, prune(thread, rule, model.now));
    assert.ok(Number.isSafeInteger(done.bytesReclaimed));
    settle(model, thread);
  },
);

export const deletingCheckpoints: Commands = commands(
  "deleteCheckpoints",
  fc.record({ ...lineChoice, picks: fc.array(anyPick, { maxLength: 6 }) }),
  async ({ picks, ...choice }, model, real) => {
    const { thread, line, handle } = chosenLine(choice, model, real);
    const ids = ["unknown", ...picks.map((pick) => pickCheckpoint(line, pick)?.id ?? "nobody")];
    const deleted = await handle.deleteCheckpoints(ids);
    assert.equal(deleted, remove(thread, line, new Set(ids)));
    settle(model, thread);
  },
);

export const deletingRun: Commands = commands(
  "deleteRun",
  fc.record({ thread: anyThread, run: fc.constantFrom("r1", "r2", "none") }),
  async (choice, model, real) => {
    const thread = pickThread(model, choice.thread);
    let expected = 0;
    for (const line of thread.lines.values()) {
      const removed = line.checkpoints.filter(({ run }) => run === choice.run).map(({ id }) => id);
      expected += remove(thread, line, new Set(removed));
    }
    assert.equal(await real.store.thread(thread.id).deleteRun(choice.run), expected);
    settle(model, thread);
  },
);

export const deletingThread: Commands = commands("delete", anyThread, async (choice, model, real) => {
  const { id } = pickThread(model, choice);
  await real.store.thread(id).delete();
  model.threads.delete(id);
  model.empty.delete(id);
  const lease = model.leases.get(id);
  if (lease !== undefined) model.leases.set(id, { epoch: lease.epoch, expires: Number.NEGATIVE_INFINITY, ended: true });
});
