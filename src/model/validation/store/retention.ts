import type { SweepOptions } from "../../interface/store-options.ts";
import { millisecondsOf } from "../../retention/duration.ts";
import {
  checkBoolean,
  checkInteger,
  checkKeys,
  checkObject,
  checkOneOf,
  checkOptions,
  type Fields,
  optional,
} from "../checks.ts";
import { checkWork, workKeys } from "../work.ts";

const ruleKeys = ["checkpoints", "threads"] as const;
const sweptStatuses = ["done", "failed", "cancelled", "paused"] as const;

/** Checks the `retention` option of `open`. */
export function checkRetention(value: unknown, what: string): void {
  const fields = checkObject(value, what);
  checkKeys(fields, [...ruleKeys, "workflows", "every"], `The object ${what}`);
  checkRules(fields, what);
  const { workflows, every } = fields;
  if (every !== undefined) {
    checkDuration(every, `${what}.every`);
    if (millisecondsOf(every) === 0) throw new TypeError(`${what}.every must be longer than 0.`);
  }
  if (workflows === undefined) return;
  for (const [name, rules] of Object.entries(checkObject(workflows, `${what}.workflows`))) {
    const place = `${what}.workflows[${JSON.stringify(name)}]`;
    const own = checkObject(rules, place);
    checkKeys(own, ruleKeys, `The object ${place}`);
    checkRules(own, place);
  }
}

function checkRules({ checkpoints, threads }: Fields, what: string): void {
  if (checkpoints !== undefined) checkCheckpointRules(checkpoints, `${what}.checkpoints`);
  if (threads !== undefined) checkThreadRules(threads, `${what}.threads`);
}

function checkCheckpointRules(value: unknown, what: string): void {
  const fields = checkObject(value, what);
  checkKeys(fields, ["keepLast", "olderThan", "keepLabelled", "ancestors"], `The object ${what}`);
  const { keepLast, olderThan, keepLabelled, ancestors } = fields;
  if (keepLast === undefined && olderThan === undefined) {
    throw new TypeError(`${what} needs a rule: say what to keep with keepLast, olderThan or both.`);
  }
  if (keepLast !== undefined) checkInteger(keepLast, `${what}.keepLast`, 0);
  if (olderThan !== undefined) checkDuration(olderThan, `${what}.olderThan`);
  if (keepLabelled !== undefined) checkBoolean(keepLabelled, `${what}.keepLabelled`);
  if (ancestors !== undefined) checkOneOf(ancestors, ["truncate", "protect"], `${what}.ancestors`);
}

function checkThreadRules(value: unknown, what: string): void {
  const fields = checkObject(value, what);
  checkKeys(fields, ["idle", "status"], `The object ${what}`);
  const { idle, status } = fields;
  checkDuration(idle, `${what}.idle`);
  if (status === undefined) return;
  if (!Array.isArray(status) || status.length === 0) {
    throw new TypeError(`${what}.status must be an array of statuses, as in ["done", "failed"].`);
  }
  for (const [index, one] of status.entries()) checkOneOf(one, sweptStatuses, `${what}.status[${index}]`);
}

function checkDuration(value: unknown, what: string): void {
  if (millisecondsOf(value) !== undefined) return;
  throw new TypeError(`${what} must be a time like "90s", "30min", "12h" or "7d", or milliseconds.`);
}

export function checkSweepOptions(options: SweepOptions): SweepOptions {
  const fields = checkOptions(options, [...workKeys, "dryRun"], "sweep");
  checkWork(fields);
  optional(fields, "dryRun", checkBoolean);
  return { ...options };
}
