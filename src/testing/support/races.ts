import assert from "node:assert/strict";
import type { Thread } from "../../api/thread.ts";
import { ThreadmarkError } from "../../errors.ts";
import { collect } from "./snapshot.ts";

/** Returns how each of several concurrent calls ended, sorted: "" for success, else the code. */
export function codesOf(outcomes: readonly PromiseSettledResult<unknown>[]): string[] {
  return outcomes
    .map((outcome) => {
      if (outcome.status === "fulfilled") return "";
      return outcome.reason instanceof ThreadmarkError ? outcome.reason.code : String(outcome.reason);
    })
    .sort();
}

/** Fails unless the namespace is a single line: each checkpoint's parent is the checkpoint committed before it. */
export async function isOneLine<State>(thread: Thread<State>): Promise<void> {
  const all = await collect(thread.history());
  for (const [index, one] of all.entries()) {
    const older = all[index + 1];
    assert.equal(one.parent, older?.id ?? null, `the parent of ${one.id}`);
    assert.ok(older === undefined || older.seq < one.seq, "seq decreases towards the past");
  }
}
