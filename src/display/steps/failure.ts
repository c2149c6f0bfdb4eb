import type { Write } from "../../model/checkpoint.ts";
import { controlIndexes } from "../../model/control-writes.ts";
import { isPlainObject } from "../../platform/plain-objects.ts";
import { previewOf } from "../values/preview.ts";
import { type Fields, own, textAt } from "../values/records.ts";

/** An error as it was stored, with its causes. */
export interface ErrorFacts {
  readonly name: string;
  readonly code: string | undefined;
  readonly message: string;
  readonly stack: string | undefined;
  readonly cause: ErrorFacts | undefined;
}

/** An error that a task of a step ended with. */
export interface Failure extends ErrorFacts {
  readonly task: string;
  /** The node that failed; null if the writer did not say. */
  readonly node: string | null;
}

/** Returns the errors among the writes of a checkpoint. A failure belongs to a node that runs next, not to the checkpoint's own. */
export function failuresIn(writes: readonly Write[], next: readonly { readonly node: string }[]): readonly Failure[] {
  return writes
    .filter(({ index }) => index === controlIndexes.error)
    .map(({ task, node, value }) => ({
      ...errorFacts(value, 0),
      task,
      node: node ?? (next.length === 1 ? (next[0]?.node ?? null) : null),
    }));
}

const DEEPEST_CAUSE = 5;

function errorFacts(value: unknown, depth = 0): ErrorFacts {
  if (value instanceof Error) return fromFields(value as unknown as Fields, value, depth);
  if (isPlainObject(value)) return fromFields(value, undefined, depth);
  const message = typeof value === "string" ? value : previewOf(value, 200);
  return { name: "Error", code: undefined, message, stack: undefined, cause: undefined };
}

function fromFields(fields: Fields, error: Error | undefined, depth: number): ErrorFacts {
  const cause = error?.cause ?? own(fields, "cause");
  return {
    name: error?.name ?? textAt(fields, "name") ?? "Error",
    code: textAt(fields, "code"),
    message: error?.message ?? textAt(fields, "message") ?? previewOf(fields, 200),
    stack: error?.stack ?? textAt(fields, "stack"),
    cause: cause === undefined || cause === null || depth >= DEEPEST_CAUSE ? undefined : errorFacts(cause, depth + 1),
  };
}

/** Returns a text that equal failures of many threads share: ids, numbers and quoted names in the message are left out. */
export function failureKey({ node, name, code, message }: Failure): string {
  const shape = message
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27,}/gi, "#")
    .replaceAll(/"[^"]*"|'[^']*'/g, "…")
    .replaceAll(/\b(?=\w*\d)[\w-]{2,}\b|\d+/g, "#");
  return JSON.stringify([node, name, code ?? "", shape]);
}
