import type { AttributeChanges, Attributes } from "../../model/attributes.ts";
import { withAttributes } from "../../model/attributes.ts";
import type { LeaseToken } from "../../model/interface/options.ts";
import type { Draft } from "../commits/draft/draft.ts";
import type { ThreadChange } from "../commits/thread-change.ts";
import { threadNotFound } from "../faults/missing.ts";
import type { EngineContext } from "../memory/context.ts";
import { hasCheckpoints } from "../view/has-checkpoints.ts";
import { checkLease } from "./lease.ts";

/** Merges attributes into those of the draft's thread. */
export function changeAttributes(draft: Draft, changes: AttributeChanges): void {
  const before = draft.meta?.attributes;
  const after = withAttributes(before, changes);
  if (!isSame(before, after)) draft.change({ attributes: after });
}

function isSame(left: Attributes = {}, right: Attributes = {}): boolean {
  const names = Object.keys(left);
  if (names.length !== Object.keys(right).length) return false;
  return names.every((name) => Object.hasOwn(right, name) && left[name] === right[name]);
}

/** Sets when a worker is to take the draft's thread; null: not at all. */
export function changeDue(draft: Draft, due: number | null): void {
  const time = due ?? undefined;
  if (draft.meta?.due !== time) draft.change({ due: time });
}

/** Sets when a worker is to take a thread, without a checkpoint. */
export function dueChange(due: number | null, lease: LeaseToken | undefined): ThreadChange<void> {
  return {
    plan: async (draft) => {
      if (!draft.existing && !draft.created) throw threadNotFound(draft.thread);
      checkLease(draft, lease);
      changeDue(draft, due);
    },
  };
}

/** Changes attributes without a checkpoint. */
export function attributesChange(changes: AttributeChanges): ThreadChange<void> {
  return {
    plan: async (draft) => {
      const { existing, planned } = draft;
      const isThere = planned.length > 0 || (existing && (await hasCheckpoints(draft.context, existing)));
      if (!isThere) throw threadNotFound(draft.thread);
      const before = draft.meta;
      changeAttributes(draft, changes);
      if (draft.meta !== before) draft.tell("attributes");
    },
  };
}

/** Returns the attributes of a thread; none for one that does not exist. */
export async function attributesOf(context: EngineContext, thread: string): Promise<Attributes> {
  return { ...(await context.thread(thread))?.meta.attributes };
}
