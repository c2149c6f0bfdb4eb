import { checkId } from "../address.ts";
import { checkKeys, checkObject, checkText } from "./checks.ts";

/** Checks a message: its id and kind are ids, its name any text. */
export function checkMessage(message: unknown): void {
  const fields = checkObject(message, "A message");
  checkKeys(fields, ["id", "kind", "name", "payload"], "A message");
  const { id, kind, name } = fields;
  checkId(kind, "The kind of a message");
  if (id !== undefined) checkId(id, "The id of a message");
  if (name !== undefined) checkText(name, "The name of a message");
}
