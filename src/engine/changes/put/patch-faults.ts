import type { PathStep } from "../../../model/patch.ts";

/*
 * The refusals of `update.patch`: each names the path, the step that is wrong and what was found there.
 */

export function missingAt(path: readonly PathStep[], at: number, length?: number): TypeError {
  const what = length === undefined ? "is not there" : `is beyond the list, which has ${length} elements`;
  const next = at < path.length - 1 ? " Set what holds it first." : "";
  return new TypeError(`update.patch: ${shown(path, at)} ${what}.${next}`);
}

export function notAContainer(path: readonly PathStep[], at: number, value: unknown): TypeError {
  const kind = value === null ? "null" : typeof value === "object" ? "an instance of a class" : `a ${typeof value}`;
  return new TypeError(`update.patch: ${shown(path, at)} is ${kind}, which has no parts to patch. Set it as a whole.`);
}

export function refuseStep(path: readonly PathStep[], at: number, holder: string): TypeError {
  const step = JSON.stringify(path[at]);
  return new TypeError(`update.patch: ${shown(path, at - 1)} is ${holder}, so the step after it cannot be ${step}.`);
}

export function removesElement(path: readonly PathStep[]): TypeError {
  const where = shown(path, path.length - 1);
  return new TypeError(
    `update.patch: ${where} is an element of a list. Set the list without it: only the difference is written.`,
  );
}

function shown(path: readonly PathStep[], at: number): string {
  return at < 0 ? "the state" : JSON.stringify(path.slice(0, at + 1));
}
