import type { PathStep } from "../../../model/patch.ts";
import { assign, isPlainObject } from "../../../platform/plain-objects.ts";
import { missingAt, notAContainer, refuseStep, removesElement } from "./patch-faults.ts";

type Plain = { [key: string]: unknown };

/** Patches a decoded state in place: for the rare values whose encoding is not their own shape. */
export function patchLive(state: Plain, path: readonly PathStep[], patch: { readonly value?: unknown }): void {
  let holder: unknown = state;
  for (let at = 0; at < path.length - 1; at += 1) {
    const found = partAt(holder, path, at);
    if (found === undefined) throw missingAt(path, at, Array.isArray(holder) ? holder.length : undefined);
    if (!isPlainObject(found) && !Array.isArray(found)) throw notAContainer(path, at, found);
    holder = found;
  }
  const last = path.length - 1;
  const step = path[last] as PathStep;
  checkStep(holder, path, last);
  if (Array.isArray(holder)) {
    const index = step as number;
    if (index > holder.length || (index === holder.length && !("value" in patch)))
      throw missingAt(path, last, holder.length);
    if (!("value" in patch)) throw removesElement(path);
    holder[index] = patch.value;
  } else if ("value" in patch) assign(holder as Plain, step as string, patch.value);
  else delete (holder as Plain)[step];
}

function partAt(holder: unknown, path: readonly PathStep[], at: number): unknown {
  checkStep(holder, path, at);
  const step = path[at] as PathStep;
  return Object.hasOwn(holder as object, step) ? (holder as Plain)[step] : undefined;
}

function checkStep(holder: unknown, path: readonly PathStep[], at: number): void {
  const isList = Array.isArray(holder);
  if (isList && typeof path[at] !== "number") throw refuseStep(path, at, "a list, which has indexes");
  if (!isList && typeof path[at] !== "string") throw refuseStep(path, at, "an object, which has keys");
}
