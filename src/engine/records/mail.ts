import type { Key, Value } from "../../backend.ts";
import { unwrapJson, wrapJson } from "../../codec/envelope.ts";
import type { Json } from "../../codec/json.ts";
import { hashStrings } from "./hash.ts";
import type { TapeAddress } from "./keys.ts";

/** A message that waits to be used. */
export interface PendingMessage {
  readonly id: string;
  /** The position of the message among all that the thread was sent. */
  readonly number: number;
  readonly kind: string;
  readonly name?: string;
  readonly payload: Json;
  readonly at: number;
}

/** The mark of a used message: another of its id is a repetition. */
export interface UsedMessage {
  readonly id: string;
  /** The thread's last seq when the message was used. */
  readonly used: number;
  readonly at: number;
}

export type MailEntry = PendingMessage | UsedMessage;

/** The part of a meta record that counts the thread's messages. */
export interface MailCount {
  /** The number of the message that was sent last. */
  readonly last: number;
  readonly pending: number;
}

export function isUsed(entry: MailEntry): entry is UsedMessage {
  return "used" in entry;
}

/** Returns the key of a message. Ids whose hashes collide share a record. */
export function mailKey({ lineage, number: group }: TapeAddress, id: string): Key {
  const [item, part] = hashStrings(id);
  return { table: "mail", lineage, group, item, part };
}

export function encodeMail(entries: readonly MailEntry[]): Value {
  return wrapJson(entries);
}

export function decodeMail(value: Value): readonly MailEntry[] {
  return unwrapJson(value) as readonly MailEntry[];
}
