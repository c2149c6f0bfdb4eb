import type { Found } from "../../../backend.ts";
import type { PruneOptions } from "../../../model/interface/options.ts";
import type { PruneResult } from "../../../model/interface/results.ts";
import { deleteThreadChange } from "../../changes/delete-thread.ts";
import type { Draft } from "../../commits/draft/draft.ts";
import type { ThreadChange } from "../../commits/thread-change.ts";
import type { EngineContext } from "../../memory/context.ts";
import type { Tape } from "../../memory/tape.ts";
import { sizeOfThread } from "../../reads/sizes.ts";
import { rangeOf } from "../../records/keys.ts";
import type { Meta } from "../../records/meta.ts";
import type { StatusCode } from "../../records/store-wide/index-state.ts";
import { pruneChange } from "../../removal/prune.ts";
import type { SweepRule } from "./ranges.ts";

/** The outcome of a rule for a thread: `deleted` checkpoints went, or with `whole` all of it. */
export interface Swept {
  readonly outcome: "whole" | "pruned" | "spared" | "kept";
  readonly deleted: number;
  readonly bytes: number;
}

const kept: Swept = { outcome: "kept", deleted: 0, bytes: 0 };
const spared: Swept = { outcome: "spared", deleted: 0, bytes: 0 };

/** Deletes old checkpoints of threads that are marked with the handler's name: see `Meta.pruner`. */
export type PruneHandler = (thread: string, options: PruneOptions) => Promise<PruneResult>;

/** Tells whether somebody works on a thread, or is about to: it is leased, waits for a person or has mail to look at. */
export function isInUse({ lease, due, mail, index }: Meta, now: number): boolean {
  const isLeased = lease !== undefined && lease.expires > now;
  return isLeased || due !== undefined || (mail?.pending ?? 0) > 0 || index?.s === "w";
}

/** Tells whether a thread, by its index, goes as a whole. */
export function isIdle({ index }: Meta, codes: readonly StatusCode[], before: number): boolean {
  return index !== undefined && codes.includes(index.s) && index.t <= before;
}

/** Applies a rule to a thread. It is decided on the thread as it is at the commit. */
export function sweepChange(rule: SweepRule, dryRun: boolean): ThreadChange<Swept> {
  return {
    fresh: true,
    plan: async (draft) => {
      const { existing: tape, context } = draft;
      if (tape?.meta.index === undefined) return kept;
      if (isInUse(tape.meta, context.clock())) return spared;
      if (rule.kind === "checkpoints" && tape.meta.pruner !== undefined) return spared;
      return rule.kind === "threads" ? sweepWhole(draft, tape, rule, dryRun) : sweepOld(draft, tape, rule, dryRun);
    },
  };
}

async function sweepWhole(
  draft: Draft,
  tape: Tape,
  { before, codes }: SweepRule & { readonly kind: "threads" },
  dryRun: boolean,
): Promise<Swept> {
  const { context } = draft;
  // Entries tell the first moment in the second of the last activity.
  if (!isIdle(tape.meta, codes, before) || (tape.tail.at(-1)?.row.createdAt ?? 0) > before) return kept;
  const bytes = await bytesOf(context, tape);
  if (!dryRun) await deleteThreadChange().plan(draft);
  // Forks still show the records of a tape that stays without its thread.
  return { outcome: "whole", deleted: 0, bytes: dryRun || draft.removed ? bytes : 0 };
}

/** Returns the bytes of a tape. Most threads that are swept are short: a single read tells. */
async function bytesOf(context: EngineContext, tape: Tape): Promise<number> {
  if (tape.meta.sealed > 0) return (await sizeOfThread(context, tape)).bytes.total;
  const tables = ["write", "mail", "mark"] as const;
  const found = (await context.read(
    tables.map((table) => ({ scan: rangeOf(tape, table) })),
  )) as readonly (readonly Found[])[];
  const beside = found.flat().reduce((sum, { value }) => sum + value.length, 0);
  return tape.metaValue.length + tape.tailLength + beside;
}

async function sweepOld(
  draft: Draft,
  tape: Tape,
  { keep }: SweepRule & { readonly kind: "checkpoints" },
  dryRun: boolean,
): Promise<Swept> {
  // Without inherited rows, a tape that never had more rows than are kept needs no look.
  if (tape.meta.origin === undefined && tape.count <= keep.keepLast) return kept;
  const { deleted, bytesReclaimed } = await pruneChange({ ...keep, dryRun }).plan(draft);
  return deleted === 0 ? kept : { outcome: "pruned", deleted, bytes: bytesReclaimed };
}
