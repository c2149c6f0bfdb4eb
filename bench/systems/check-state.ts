import assert from "node:assert/strict";
import type { State } from "../workloads/workload.ts";

/** A measured system has to be right: what it reads is what was put. Messages are compared by what they hold. */
export function checkState(read: State, expected: State, system: string): void {
  assert.deepEqual(comparable(read), comparable(expected), `${system} read back another state than was put`);
}

function comparable(state: State): unknown {
  return Object.fromEntries(Object.entries(state).map(([key, value]) => [key, plain(value)]));
}

/** Known by what they can do, so that programs without LangChain need not load it. */
function plain(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  return value.map((item: unknown) => (isMessage(item) ? item.toDict() : item));
}

function isMessage(item: unknown): item is { toDict(): unknown } {
  return item !== null && typeof item === "object" && "toDict" in item && typeof item.toDict === "function";
}
