import { isPlainObject } from "../platform/plain-objects.ts";
import type { Change } from "./interface/results.ts";

/**
 * Lists the differences between two values, by path: added, removed and changed ones. Objects and arrays are entered;
 * `same` decides for everything else, and may say early that two trees are equal.
 */
export function changesBetween(
  before: unknown,
  after: unknown,
  same: (left: unknown, right: unknown) => boolean,
): Change[] {
  const changes: Change[] = [];
  compare(before, after, []);
  return changes;

  function compare(left: unknown, right: unknown, path: readonly (string | number)[]): void {
    if (same(left, right)) return;
    if (Array.isArray(left) && Array.isArray(right)) compareArrays(left, right, path);
    else if (isPlainObject(left) && isPlainObject(right) && isSameKind(left, right)) compareObjects(left, right, path);
    else changes.push({ path, kind: "changed", before: left, after: right });
  }

  function compareObjects(left: Plain, right: Plain, path: readonly (string | number)[]): void {
    for (const key of Object.keys(left)) {
      const at = [...path, key];
      if (Object.hasOwn(right, key)) compare(left[key], right[key], at);
      else changes.push({ path: at, kind: "removed", before: left[key] });
    }
    for (const key of Object.keys(right)) {
      if (!Object.hasOwn(left, key)) changes.push({ path: [...path, key], kind: "added", after: right[key] });
    }
  }

  /** Compares lists in pairs of elements, without those that are equal at both ends. */
  function compareArrays(
    left: readonly unknown[],
    right: readonly unknown[],
    path: readonly (string | number)[],
  ): void {
    const shorter = Math.min(left.length, right.length);
    let start = 0;
    while (start < shorter && same(left[start], right[start])) start += 1;
    let end = 0;
    while (end < shorter - start && same(left[left.length - 1 - end], right[right.length - 1 - end])) end += 1;
    const removed = left.slice(start, left.length - end);
    const added = right.slice(start, right.length - end);
    for (let index = 0; index < Math.max(removed.length, added.length); index += 1) {
      const at = [...path, start + index];
      if (index >= added.length) changes.push({ path: at, kind: "removed", before: removed[index] });
      else if (index >= removed.length) changes.push({ path: at, kind: "added", after: added[index] });
      else compare(removed[index], added[index], at);
    }
  }
}

type Plain = { readonly [key: string]: unknown };

/** Returns false for an object with a prototype and one without: they differ, whatever they hold. */
function isSameKind(left: Plain, right: Plain): boolean {
  return (Object.getPrototypeOf(left) === null) === (Object.getPrototypeOf(right) === null);
}
