import fc from "fast-check";
import type { Patch, PathStep } from "../../src/model/patch.ts";
import { clone } from "./clone.ts";
import { patched } from "./naive/patch.ts";

type Free = Record<string, unknown>;

/** Raw material for a patch: numbers that choose a step at each level of the state it meets. */
export interface RawPatch {
  readonly steps: readonly { readonly pick: number; readonly key: string }[];
  readonly value: unknown;
  readonly removes: boolean;
}

export function rawPatchesOf(value: fc.Arbitrary<unknown>, keys: readonly string[]): fc.Arbitrary<readonly RawPatch[]> {
  const key = fc.constantFrom(...keys, "a", "b", "__proto__", "$", "");
  const steps = fc.array(fc.record({ pick: fc.nat({ max: 40 }), key }), { minLength: 1, maxLength: 4 });
  return fc.array(fc.record({ steps, value, removes: fc.nat({ max: 4 }).map((n) => n === 0) }), { maxLength: 4 });
}

/** Patches that the state takes one after the other; with `careless`, also some that it refuses. */
export function patchesFor(state: unknown, raw: readonly RawPatch[], careless: boolean): readonly Patch<Free>[] {
  const chosen: Patch<Free>[] = [];
  let now = clone(state);
  for (const one of raw) {
    const path = pathIn(now, one.steps);
    const patch = (one.removes ? [path] : [path, one.value]) as unknown as Patch<Free>;
    try {
      now = patched(clone(now), patch);
    } catch {
      if (!careless) continue;
    }
    chosen.push(patch);
  }
  return chosen;
}

/** Follows the state as far as it goes: existing keys and indexes, now and then a new one. */
function pathIn(state: unknown, steps: RawPatch["steps"]): PathStep[] {
  const path: PathStep[] = [];
  let node = state;
  for (const { pick, key } of steps) {
    if (Array.isArray(node)) {
      const index: number = pick % (node.length + 1);
      path.push(index);
      node = node[index];
    } else {
      const names = typeof node === "object" && node !== null ? Object.keys(node) : [];
      const name = pick % 4 === 0 ? key : (names[pick % names.length] ?? key);
      path.push(name);
      node = names.includes(name) ? (node as Free)[name] : undefined;
      if (node === undefined) return path;
    }
    if (typeof node !== "object" || node === null) return path;
  }
  return path;
}
