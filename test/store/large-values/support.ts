import type { Backend, Found, Listed, Value } from "../../../src/backend.ts";
import { unwrap, unwrapJson } from "../../../src/codec/envelope.ts";
import { namesIn } from "../../../src/codec/references.ts";
import { valuesOfPack } from "../../../src/engine/records/pack/rows.ts";
import { decodeValue } from "../../../src/engine/records/values.ts";

/** Returns a text of some length that is not like any other. */
export function documentOf(length: number, seed: number | string = 0): string {
  let text = "";
  for (let line = 0; text.length < length; line++) text += `${seed}: line ${line}, ${(line * 7919) % 1013}\n`;
  return text.slice(0, length);
}

export interface Census {
  /** Names of the values that are stored, and of those that records refer to, by lineage. */
  readonly stored: readonly string[];
  readonly referred: readonly string[];
}

/** Reads a backend's records by hand: which large values there are, and which are referred to. */
export async function censusOf(backend: Backend): Promise<Census> {
  const [listed] = (await backend.read([{ list: { limit: 1_000 } }])) as readonly [readonly Listed[]];
  const lineages = new Set(
    listed.flatMap(({ value }) => (unwrapJson(value) as { readonly lineage?: number }).lineage ?? []),
  );
  const stored = new Set<string>();
  const referred = new Set<string>();
  for (const lineage of lineages) {
    const scan = async (table: "meta" | "value" | "tail" | "mark" | "rows" | "write", group: number) =>
      (await backend.read([{ scan: { table, lineage, group } }]))[0] as readonly Found[];
    for (const { item, part, value } of await scan("value", lineage)) {
      if (item !== 0 || part !== 0) stored.add(`${lineage}:${decodeValue(value).name}`);
    }
    for (const { item: tape } of await scan("meta", lineage)) {
      const add = (names: ReadonlyMap<string, number>): void => {
        for (const name of names.keys()) referred.add(`${lineage}:${name}`);
      };
      for (const table of ["tail", "mark", "write"] as const) {
        for (const { value } of await scan(table, tape)) add(namesIn(unwrap(value as Value)));
      }
      for (const { value } of await scan("rows", tape)) add(valuesOfPack(value));
    }
  }
  return { stored: [...stored].sort(), referred: [...referred].sort() };
}
