import type { Attributes } from "../model/attributes.ts";

/** Returns the attributes of a thread as people write them: "tenant=acme". */
export function attributeTexts(attributes: Attributes): readonly string[] {
  return Object.entries(attributes).map(([name, value]) => `${name}=${String(value)}`);
}
