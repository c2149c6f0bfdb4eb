import { checkId } from "../address.ts";
import type { CheckpointElsewhere, CheckpointRef } from "../interface/options.ts";
import { checkInteger, checkKeys, checkObject, checkText } from "./checks.ts";

const refKeys = ["step", "seq", "label"];

/** Checks the name of a checkpoint: an id, or exactly one of `{ step }`, `{ seq }` and `{ label }`. */
export function checkRef(value: unknown, what: string): asserts value is CheckpointRef {
  if (typeof value === "string") {
    checkId(value, what);
    return;
  }
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    throw new TypeError(`${what} must be a checkpoint's id, or one of { step }, { seq } and { label }.`);
  }
  checkKeys(value as { [key: string]: unknown }, refKeys, what);
  const { step, seq, label } = value as { [key: string]: unknown };
  const given = [step, seq, label].filter((field) => field !== undefined).length;
  if (given !== 1) throw new TypeError(`${what} must have exactly one of step, seq and label.`);
  if (step !== undefined) checkInteger(step, `${what}.step`);
  if (seq !== undefined) checkInteger(seq, `${what}.seq`, 0);
  if (label === undefined) return;
  checkText(label, `${what}.label`);
  if (label === "") throw new TypeError(`${what}.label must not be empty: that is the label of most checkpoints.`);
}

/** Checks a list of names of checkpoints. */
export function checkRefs(values: unknown, what: string, each: string): asserts values is readonly CheckpointRef[] {
  if (!Array.isArray(values)) throw new TypeError(`${what} must be an array of checkpoints' ids.`);
  for (const value of values) checkRef(value, each);
}

/** Checks a side of `diff`: a checkpoint of the thread, or of another. */
export function checkSide(value: unknown, what: string): asserts value is CheckpointRef | CheckpointElsewhere {
  if (!isElsewhere(value)) {
    checkRef(value, what);
    return;
  }
  const fields = checkObject(value, what);
  const { thread, at } = fields;
  checkKeys(fields, ["thread", "at"], what);
  checkId(thread, `${what}.thread`);
  checkRef(at, `${what}.at`);
}

export function isElsewhere(value: unknown): value is CheckpointElsewhere {
  return value !== null && typeof value === "object" && ("thread" in value || "at" in value);
}

/** Returns a copy that the caller cannot change any more. */
export function copyRef(ref: CheckpointRef): CheckpointRef {
  return typeof ref === "string" ? ref : { ...ref };
}

/** Describes a checkpoint in messages. */
export function describeRef(ref: CheckpointRef): string {
  if (typeof ref === "string") return `checkpoint ${JSON.stringify(ref)}`;
  if ("step" in ref) return `checkpoint of step ${ref.step}`;
  if ("seq" in ref) return `checkpoint of seq ${ref.seq}`;
  return `checkpoint labelled ${JSON.stringify(ref.label)}`;
}
