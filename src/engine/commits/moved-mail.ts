import type { Entry, Key } from "../../backend.ts";
import type { TapeAddress } from "../records/keys.ts";
import { encodeMail, isUsed, type MailCount, type MailEntry, mailKey } from "../records/mail.ts";

/** The messages that a new tape begins with, and their count. */
export interface MovedMail {
  readonly entries: readonly MailEntry[];
  readonly count: MailCount | undefined;
}

/**
 * Numbers messages of another tape, or of a bundle, for a new tape, in their order. Where two have one id, a used one
 * counts rather than one that waits, and otherwise the first.
 */
export function movedMail(messages: readonly MailEntry[]): MovedMail {
  const byId = new Map<string, MailEntry>();
  for (const entry of messages) if (isUsed(entry) && !byId.has(entry.id)) byId.set(entry.id, entry);
  let last = 0;
  for (const entry of messages) {
    if (isUsed(entry) || byId.has(entry.id)) continue;
    last += 1;
    byId.set(entry.id, { ...entry, number: last });
  }
  return { entries: [...byId.values()], count: byId.size === 0 ? undefined : { last, pending: last } };
}

/** Returns the records of messages on a tape. Messages whose keys collide share a record. */
export function mailRecords(tape: TapeAddress, messages: readonly MailEntry[]): readonly Entry[] {
  const byKey = new Map<string, { readonly key: Key; readonly messages: MailEntry[] }>();
  for (const message of messages) {
    const key = mailKey(tape, message.id);
    const name = `${key.item}:${key.part}`;
    const record = byKey.get(name) ?? { key, messages: [] };
    byKey.set(name, record);
    record.messages.push(message);
  }
  return [...byKey.values()].map((record) => ({ key: record.key, value: encodeMail(record.messages) }));
}
