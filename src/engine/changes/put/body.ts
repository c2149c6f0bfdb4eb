import { apply, type Delta, diff } from "../../../codec/delta/index.ts";
import type { Json } from "../../../codec/json.ts";
import type { Draft } from "../../commits/draft/draft.ts";
import type { TreeEntry } from "../../memory/tree-cache.ts";
import type { Body } from "../../records/body.ts";
import type { CapturedPut } from "./capture.ts";
import { type StateChange, updateDelta } from "./update.ts";

export const emptyBody: Body = { s: {}, p: [], n: [], c: [], i: [], b: [] };

/** Returns the whole body of the new checkpoint. */
export function bodyOf(draft: Draft, captured: CapturedPut, parent: Body): { tree: Body; tagged: boolean } {
  const { parts, fields } = captured;
  let state = captured.state;
  let tagged = false;
  if (captured.update) {
    const change = updateDelta(draft.context.codec, parent.s, captured.update);
    state = apply(parent.s, change.delta);
    tagged = change.tagged;
  }
  const path = parts.path ?? (fields.node === null ? parent.p : [...(parent.p as Json[]), fields.node]);
  const tree = { s: state as Json, p: path, n: parts.next, c: parts.completed, i: parts.interrupts, b: parts.barriers };
  return { tree, tagged };
}

/** Returns the change that an update makes of the body, without comparing states. The parent may be an outline. */
export function updateBody(draft: Draft, captured: CapturedPut, base: TreeEntry): StateChange {
  const { parts, fields } = captured;
  const parent = base.tree as Body;
  const update = captured.update as NonNullable<CapturedPut["update"]>;
  const { delta, tagged, grown, written } = updateDelta(draft.context.codec, parent.s, update, {
    outlined: base.outlined,
    largeFrom: draft.context.largeFrom,
  });
  const changes: { [part: string]: Delta } = {};
  const note = (part: string, change: Delta | undefined): void => {
    if (change !== undefined) changes[part] = change;
  };
  note("s", Object.keys(delta).length === 0 ? undefined : delta);
  if (parts.path !== undefined) note("p", diff(parent.p, parts.path));
  else if (fields.node !== null) note("p", { p: [fields.node] });
  note("n", listChange(parent.n, parts.next));
  note("c", listChange(parent.c, parts.completed));
  note("i", listChange(parent.i, parts.interrupts));
  note("b", listChange(parent.b, parts.barriers));
  return { delta: Object.keys(changes).length === 0 ? {} : { d: changes }, tagged, grown, written };
}

/** Compares two lists that are mostly empty and stay so, or name one node and then another. */
function listChange(before: Json, after: Json): Delta | undefined {
  const [from, to] = [before as Json[], after as Json[]];
  if (from.length === 0 && to.length === 0) return undefined;
  const [left, right] = [from[0] as Json, to[0] as Json];
  if (from.length === 1 && to.length === 1 && isNodeOnly(left) && isNodeOnly(right)) {
    return left.node === right.node ? undefined : { r: after };
  }
  return diff(before, after);
}

function isNodeOnly(entry: Json): entry is { node: Json } {
  if (typeof entry !== "object" || entry === null || Array.isArray(entry)) return false;
  for (const key in entry) if (key !== "node") return false;
  return typeof (entry as { node?: Json }).node === "string";
}
