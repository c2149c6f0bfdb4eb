import type { Patch, PathStep } from "../../../src/model/patch.ts";

type Free = Record<string, unknown>;

/** Applies one patch to a state of one's own, by the words of the interface alone. */
export function patched(state: unknown, patch: Patch<Free>): unknown {
  const [path, ...values] = patch as readonly [readonly PathStep[], ...unknown[]];
  let holder = state;
  for (const step of path.slice(0, -1)) {
    checkStep(holder, step);
    if (!Object.hasOwn(holder as object, step)) throw new TypeError(`there is no ${step}`);
    holder = (holder as Free)[step];
  }
  const last = path.at(-1) as PathStep;
  checkStep(holder, last);
  if (Array.isArray(holder)) {
    if (values.length === 0) throw new TypeError("an element is removed by setting the list");
    if ((last as number) > holder.length) throw new TypeError("beyond the end of the list");
    holder[last as number] = values[0];
  } else if (values.length === 0) delete (holder as Free)[last];
  else {
    const field = { value: values[0], writable: true, enumerable: true, configurable: true };
    Object.defineProperty(holder, last, field);
  }
  return state;
}

function checkStep(holder: unknown, step: PathStep): void {
  const isList = Array.isArray(holder);
  const prototype: unknown = typeof holder === "object" && holder !== null ? Object.getPrototypeOf(holder) : undefined;
  if (!isList && prototype !== Object.prototype && prototype !== null) throw new TypeError("nothing to patch in there");
  if (isList !== (typeof step === "number")) throw new TypeError(`${step} is no step into that`);
}
