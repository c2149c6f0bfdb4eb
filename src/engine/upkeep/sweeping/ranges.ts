import {
  type CheckpointRules,
  type StoreRetention,
  type SweepRules,
  sweepWindows,
} from "../../../model/retention/sweep.ts";
import { statusPrefix, timeText, timeTextBehind, workflowPrefix } from "../../records/store-wide/index-entries.ts";
import type { StatusCode } from "../../records/store-wide/index-state.ts";
import { codeOf } from "../../view/head-status.ts";

/** A range of the index, by activity, and the rule that the threads in it are held to. */
export interface SweepRange {
  readonly from: string;
  readonly to: string;
  /** Only threads of this workflow; undefined: only those whose workflow has no rules of its own. */
  readonly workflow: string | undefined;
  readonly rule: SweepRule;
}

export type SweepRule =
  /** Threads that were last active before `before` go. */
  | { readonly kind: "threads"; readonly before: number; readonly codes: readonly StatusCode[] }
  | { readonly kind: "checkpoints"; readonly keep: CheckpointRules };

/** The statuses of threads whose checkpoints may go: not of waiting ones. */
const prunable: readonly StatusCode[] = ["d", "f", "c", "p"];

/**
 * Returns the ranges that a pass at the time `now` goes through: first the threads that go, then those with checkpoints that
 * go. Of the latter, those that were looked at in the pass before, and that time has not changed since, are left out.
 */
export function sweepRanges({ general, workflows }: StoreRetention, last: number, now: number): readonly SweepRange[] {
  const all: readonly (readonly [string | undefined, SweepRules])[] = [[undefined, general], ...workflows];
  const prefix = (workflow: string | undefined, code: StatusCode): string =>
    workflow === undefined ? statusPrefix(code) : workflowPrefix(workflow, code);
  const ranges: SweepRange[] = [];
  for (const [workflow, { threads }] of all) {
    if (!threads) continue;
    const codes = threads.status.map((status) => codeOf(status) as StatusCode);
    const before = now - threads.idle;
    for (const code of codes) {
      const from = prefix(workflow, code);
      ranges.push({ from, to: from + timeTextBehind(before), workflow, rule: { kind: "threads", before, codes } });
    }
  }
  for (const [workflow, { checkpoints: keep }] of all) {
    if (!keep) continue;
    for (const window of sweepWindows(keep, last, now)) {
      for (const code of prunable) {
        const from = prefix(workflow, code);
        const first = Math.max(0, window.from);
        ranges.push({
          from: from + timeText(first),
          to: from + timeTextBehind(window.to),
          workflow,
          rule: { kind: "checkpoints", keep },
        });
      }
    }
  }
  return ranges;
}
