import { createHash } from "node:crypto";
import { inspect } from "node:util";

export interface State {
  readonly n: number;
  readonly log: readonly { readonly by: string; readonly text: string }[];
  readonly notes: string;
  readonly fields: { readonly [name: string]: unknown };
}

/** A log grows this long, then begins anew: deltas and packs over a bounded state. */
const window = 40;

/** Returns the state of checkpoint `id` behind `before`, and the update that leads to it where there is one. */
export function step(before: State | undefined, id: string): { readonly after: State; readonly update?: object } {
  const n = (before?.n ?? 0) + 1;
  const entry = { by: id, text: `${id} says ${n} ${"·".repeat(n % 50)}` };
  const fields = { at: new Date(n), big: BigInt(n) ** 9n, set: new Set([n, id]), bytes: new Uint8Array([n % 256, 1]) };
  if (!before || before.log.length >= window) return { after: { n, log: [entry], notes: "", fields } };
  return {
    after: { n, log: [...before.log, entry], notes: `${before.notes},${id}`, fields },
    update: { append: { log: [entry], notes: `,${id}` }, set: { n, fields } },
  };
}

/** Tells states apart, exact types included. */
export function fingerprint(state: unknown): string {
  const text = inspect(state, { depth: null, maxArrayLength: null, maxStringLength: null, breakLength: Infinity });
  return createHash("sha1").update(text).digest("base64url");
}
