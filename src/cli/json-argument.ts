import { fromTagged, type Json } from "../tagged.ts";
import { usage } from "./failure.ts";

/** A value given on the command line: JSON, tagged where JSON has no form for it. */
export function parseJson(text: string): unknown {
  let tree: Json;
  try {
    tree = JSON.parse(text) as Json;
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw usage(`${JSON.stringify(text)} is no JSON: ${why}. A text needs quotes of its own: '"like this"'.`);
  }
  return fromTagged(tree);
}
