import { checkId } from "../address.ts";
import type { AcquireOptions, BreakOptions } from "../interface/options.ts";
import { checkNumber, checkObject, checkOptions, checkSignal, optional } from "./checks.ts";

const acquireKeys: readonly (keyof AcquireOptions)[] = ["holder", "ttl", "wait", "signal"];

export function checkAcquireOptions(options: AcquireOptions): void {
  const fields = checkOptions(options, acquireKeys, "acquire");
  // A holder or a ttl that was meant to be given and is undefined is no reason to take the default.
  if ("holder" in fields) checkId(fields["holder"], "holder");
  if ("ttl" in fields) checkTtl(fields["ttl"]);
  optional(fields, "wait", (value, what) => typeof value === "boolean" || checkNumber(value, what));
  optional(fields, "signal", checkSignal);
}

const breakKeys: readonly (keyof BreakOptions)[] = ["by", "reason"];

export function checkBreakOptions(options: BreakOptions): void {
  const fields = checkOptions(options, breakKeys, "breakLease");
  optional(fields, "by", checkId);
  optional(fields, "reason", checkId);
}

export function checkTtl(value: unknown): void {
  if (typeof value !== "number" || !Number.isFinite(value) || value <= 0)
    throw new TypeError("ttl must be a positive number of milliseconds.");
}

/** Checks a lease by its fields: any object with those of a lease will do. */
export function checkLeaseToken(value: unknown, what: string): void {
  const lease = checkObject(value, what);
  if (
    typeof lease["thread"] !== "string" ||
    typeof lease["holder"] !== "string" ||
    !Number.isSafeInteger(lease["epoch"]) ||
    (lease["token"] !== undefined && typeof lease["token"] !== "string")
  ) {
    throw new TypeError(`${what} must be what acquire() gave.`);
  }
}
