import assert from "node:assert/strict";
import { type ErrorCode, ThreadmarkError } from "../../errors.ts";

/** Fails unless the call fails with a ThreadmarkError of this code; returns the error for closer inspection. */
export async function failsWith(code: ErrorCode, call: () => unknown): Promise<ThreadmarkError> {
  const error = await failure(call);
  assert.ok(error instanceof ThreadmarkError, `expected ${code}, got ${String(error)}`);
  assert.equal(error.code, code, `expected ${code}, got ${error.code}: ${error.message}`);
  return error;
}

/** Fails unless the call is refused as misuse, with a TypeError, thrown or as a rejection. */
export async function isMisuse(call: () => unknown, what = "the call"): Promise<TypeError> {
  const error = await failure(call, what);
  assert.ok(error instanceof TypeError, `expected a TypeError from ${what}, got ${String(error)}`);
  return error;
}

async function failure(call: () => unknown, what = "the call"): Promise<unknown> {
  let value: unknown;
  try {
    value = await call();
  } catch (error) {
    return error;
  }
  return assert.fail(`${what} did not fail but gave ${typeof value === "object" ? "an object" : String(value)}`);
}
