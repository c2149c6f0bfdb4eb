import { fromTagged, type Json } from "../../display/tagged-json.ts";
import { usage } from "../failure.ts";

/** Parses a value given on the command line: JSON, tagged where JSON has no form for it. */
export function parseJson(text: string): unknown {
  let tree: Json;
  try {
    tree = JSON.parse(text) as Json;
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw usage(`${JSON.stringify(text)} is no JSON: ${why}. A text needs quotes of its own: '"like this"'.`);
  }
  try {
    return fromTagged(tree);
  } catch (cause) {
    // The rest of the message is about damaged stores.
    const [why] = (cause instanceof Error ? cause.message : String(cause)).split(". ");
    throw usage(
      `${JSON.stringify(text)} has a tag that stands for no value: ${why}. docs/reference/types.md lists the tags; an object with a key ` +
        `"$" of its own is given as {"$":"object","v":{…}}.`,
    );
  }
}
