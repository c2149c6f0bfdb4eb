import type { Erasable, ErasableTest, EraseOptions } from "../interface/erasure.ts";
import type { PathStep } from "../patch.ts";
import { checkBoolean, checkOptions, checkSignal, optional } from "./checks.ts";

/** Checks what is to be erased, and returns a copy: paths, or a test. */
export function checkErasable(what: Erasable): readonly (readonly PathStep[])[] | ErasableTest {
  if (typeof what === "function") return what;
  if (!Array.isArray(what) || what.length === 0) {
    throw new TypeError("erase needs a path of keys and indexes, several paths, or a function of path and value.");
  }
  const paths = (Array.isArray(what[0]) ? what : [what]) as readonly unknown[];
  return paths.map((path) => checkPath(path));
}

function checkPath(path: unknown): readonly PathStep[] {
  if (!Array.isArray(path) || path.length === 0) throw new TypeError("A path to erase must have at least one step.");
  for (const step of path as unknown[]) {
    if (typeof step === "string" || (Number.isSafeInteger(step) && (step as number) >= 0)) continue;
    throw new TypeError("A step of a path to erase is a key, or an index from 0.");
  }
  return [...(path as PathStep[])];
}

export function checkEraseOptions(options: EraseOptions): EraseOptions {
  const fields = checkOptions(options, ["forks", "signal"], "erase");
  optional(fields, "forks", checkBoolean);
  optional(fields, "signal", checkSignal);
  return { ...options };
}
