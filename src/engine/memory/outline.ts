import type { Json } from "../../codec/json.ts";
import type { Body } from "../records/body.ts";
import { isContainer, isPlainState, LONG_TEXT } from "../records/body.ts";

/** States with more fields than this, and bodies with more bytes of other parts, get no outline. */
const MOST_FIELDS = 64;
const MOST_BYTES = 1_000;

const someText = " ".repeat(LONG_TEXT + 1);
const someList: Json[] = Object.freeze([]) as unknown as Json[];
const someObject: Json = Object.freeze({});

/**
 * Returns a body like the given one, but with empty lists and objects, and blanks for long texts; undefined if that
 * would be too large. It says of which kind each field is, which is all that most updates need. So an update costs what
 * it changes even where there are more threads than trees fit into memory.
 */
export function outlineOf({ s: state, n, c, i, b }: Body): Body | undefined {
  if (!isPlainState(state) || JSON.stringify([n, c, i, b]).length > MOST_BYTES) return undefined;
  const fields = Object.entries(state);
  if (fields.length > MOST_FIELDS) return undefined;
  // Object.fromEntries defines properties, so that a field may have any name.
  return { s: Object.fromEntries(fields.map(([key, value]) => [key, outlineOfField(value)])), p: someList, n, c, i, b };
}

function outlineOfField(value: Json): Json {
  if (typeof value === "string") return value.length > LONG_TEXT ? someText : value;
  if (Array.isArray(value)) return someList;
  return isContainer(value) ? someObject : value;
}
