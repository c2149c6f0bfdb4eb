import { keyBytes } from "../../interface/encryption.ts";
import { checkBoolean, checkFunction, checkKeys, checkObject, optional } from "../checks.ts";

/** The most bytes of a key's name: it is stored with every lineage. */
const NAME_BYTES = 200;

/** Checks the option `encryption` of `open`. A message never shows any of a key. */
export function checkEncryption(value: unknown, what: string): void {
  const fields = checkObject(value, what);
  checkKeys(fields, ["current", "keys", "wrap", "unwrap", "migrating", "hideIds"], what);
  const { current, keys, wrap, unwrap } = fields;
  optional(fields, "migrating", checkBoolean);
  optional(fields, "hideIds", checkBoolean);
  if (fields["migrating"] === true && fields["hideIds"] === true) {
    throw new TypeError(
      `${what}: ids cannot be hidden in a store that has data (migrating). Restore a backup of it into a new store with hideIds.`,
    );
  }
  if ((keys === undefined) === (wrap === undefined && unwrap === undefined)) {
    throw new TypeError(`${what} takes either current and keys, or wrap and unwrap.`);
  }
  if (keys === undefined) {
    checkFunction(wrap, `${what}.wrap`);
    checkFunction(unwrap, `${what}.unwrap`);
    if (current !== undefined) checkName(current, `${what}.current`);
    return;
  }
  const named = checkObject(keys, `${what}.keys`);
  for (const [name, key] of Object.entries(named)) {
    checkName(name, `A name in ${what}.keys`);
    if (keyBytes(key) !== undefined) continue;
    throw new TypeError(
      `${what}.keys has under ${JSON.stringify(name)} no key of 32 bytes: give a Uint8Array, 64 hexadecimal digits, or base64.`,
    );
  }
  checkName(current, `${what}.current`);
  if (!Object.hasOwn(named, current as string))
    throw new TypeError(`${what}.current is ${JSON.stringify(current)}, which ${what}.keys lacks.`);
}

function checkName(name: unknown, what: string): void {
  const isName = typeof name === "string" && name !== "" && name.length <= NAME_BYTES && name.isWellFormed();
  if (!isName) throw new TypeError(`${what} must be a text of 1 to ${NAME_BYTES} characters.`);
}
