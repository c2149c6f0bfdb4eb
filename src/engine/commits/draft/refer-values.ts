import type { Delta } from "../../../codec/delta/index.ts";
import type { Json } from "../../../codec/json.ts";
import { jsonText } from "../../../codec/json-text.ts";
import type { DraftValues } from "../../bodies/values/draft-values.ts";
import { shortText } from "../../bodies/values/large-parts.ts";

/** The draft, as far as large values need it. */
interface Draft {
  readonly context: { readonly largeFrom: number };
  readonly values: DraftValues;
  weigh(record: { readonly length: number }): void;
}

/** Returns a change as it is stored, with references in place of large values, and its JSON. */
export function referDelta(
  draft: Draft,
  lineage: number,
  change: Delta,
  grown = false,
  written?: number,
): readonly [stored: Delta, json: string] {
  const json = shortText(change as Json, draft.context.largeFrom, written);
  // Nearly every change ends here.
  if (json !== undefined) return [change, json];
  const stored = weighed(draft, () => draft.values.referDelta(lineage, change, grown));
  return [stored, jsonText(stored)];
}

/** Returns a value of a write as it is stored, with references in place of large values. */
export function referValue(draft: Draft, lineage: number, value: Json): Json {
  return weighed(draft, () => draft.values.referValue(lineage, value));
}

/** Adds the lengths of new large values to the draft's. */
function weighed<T>(draft: Draft, refer: () => T): T {
  const { length } = draft.values.planned;
  const result = refer();
  for (const value of draft.values.planned.slice(length)) draft.weigh(value.json);
  return result;
}
