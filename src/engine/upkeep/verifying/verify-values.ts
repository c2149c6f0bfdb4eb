import type { Found, Value } from "../../../backend.ts";
import { refers } from "../../../codec/envelope.ts";
import type { Json } from "../../../codec/json.ts";
import { addNames } from "../../../codec/references.ts";
import type { EngineContext } from "../../memory/context.ts";
import type { Tape } from "../../memory/tape.ts";
import { PACK_TABLES } from "../../records/keys.ts";
import { decodeFrames } from "../../records/pack/pack.ts";
import { decodeRows, valuesOfPack } from "../../records/pack/rows.ts";
import { collectionsKey, decodeValue, nameOf, parseValue, valueKey, valueRange } from "../../records/values.ts";
import { recordsIn, tapeRecords } from "../../view/lineage/tape-records.ts";

/** Large values read at once. */
const VALUES = 8;

/** Checks that every large value of a lineage is what its name says, and that it reads. */
export async function verifyValues(
  context: EngineContext,
  lineage: number,
  onFault: (error: unknown) => void,
): Promise<void> {
  let count = 0;
  for await (const { item, part, value } of recordsIn(context, valueRange(lineage), VALUES)) {
    if (item === 0 && part === 0) continue;
    count += 1;
    try {
      await verifyValue(context, lineage, { item, part, value });
    } catch (error) {
      const fault = error instanceof Error ? error.message : String(error);
      onFault(new Error(`large value ${lineage}:${item}:${part}: ${fault}`));
    }
  }
  if (count === 0) return;
  const [collections] = await context.read([{ get: collectionsKey(lineage) }]);
  if (collections === undefined) onFault(new Error(`lineage ${lineage} has large values, but no count of collections`));
}

async function verifyValue(context: EngineContext, lineage: number, { item, part, value }: Found): Promise<void> {
  const { name, object, key: objectKey } = decodeValue(value);
  let { json } = decodeValue(value);
  const key = valueKey(lineage, name);
  if (key.item !== item || key.part !== part) throw new Error("it is stored in the place of another");
  if (object !== undefined) {
    const inside = await context.outside.read(object, objectKey);
    if (inside === undefined) {
      const [now] = await context.read([{ get: key }]);
      // It was collected meanwhile.
      if (now !== value) return;
      throw new Error(`its object ${JSON.stringify(object)} is missing`);
    }
    const stored = decodeValue(inside);
    if (stored.name !== name) throw new Error(`object ${JSON.stringify(object)} holds another value`);
    json = stored.json;
  }
  // Values of before the store was encrypted keep their names.
  if (json === undefined || (context.nameValue(json) !== name && nameOf(json) !== name))
    throw new Error("it is not the value of its name");
  parseValue(json);
}

/**
 * Checks that each pack of a tape names all large values that its frames refer to: a value that is not named would be
 * collected while it is needed.
 */
export async function verifyPackValues(
  context: EngineContext,
  tape: Tape,
  onFault: (error: unknown) => void,
): Promise<void> {
  for await (const { item: last, value } of tapeRecords(context, tape, "rows")) {
    if (!refers(value)) continue;
    const reads = PACK_TABLES.map((table) => ({ get: tape.key(table, last) }));
    const [rows, net, steps] = (await context.read(reads)) as readonly (Value | undefined)[];
    // Others have rewritten the pack meanwhile.
    if (rows === undefined || net === undefined || steps === undefined) continue;
    const names = new Map<string, number>();
    try {
      for (const { change, writes = [] } of decodeFrames(decodeRows(tape.number, rows), net, steps)) {
        addNames(change as Json, names);
        addNames(writes as unknown as Json, names);
      }
    } catch {
      // Frames that do not read are reported with their checkpoints.
      continue;
    }
    const named = valuesOfPack(rows);
    const unnamed = [...names.keys()].filter((name) => !named.has(name));
    if (unnamed.length > 0)
      onFault(new Error(`pack ${tape.number}:${last} does not name ${unnamed.length} of its large values`));
  }
}
