import assert from "node:assert/strict";
import { BaseMessage } from "@langchain/core/messages";
import type { State } from "./workloads/workload.ts";

/** A measured system has to be right: what it reads is what was put. Messages are compared by what they hold. */
export function checkState(read: State, expected: State, system: string): void {
  assert.deepEqual(comparable(read), comparable(expected), `${system} read back another state than was put`);
}

function comparable(state: State): unknown {
  return Object.fromEntries(Object.entries(state).map(([key, value]) => [key, plain(value)]));
}

function plain(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  return value.map((item) => (item instanceof BaseMessage ? item.toDict() : item));
}
