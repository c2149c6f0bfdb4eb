import type { Found } from "../../backend.ts";
import type { EngineContext } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import { rangeOf } from "../records/keys.ts";
import { decodeMail, isUsed, type MailEntry, type PendingMessage } from "../records/mail.ts";

/** Reads all messages of a tape: the marks of used ones, then those that wait, in the order in which they were sent. */
export async function mailOf(context: EngineContext, tape: Tape): Promise<readonly MailEntry[]> {
  // Invariant: a tape whose meta record has no count was never sent a message.
  if (!tape.meta.mail) return [];
  const [found] = (await context.read([{ scan: rangeOf(tape, "mail") }])) as readonly [readonly Found[]];
  const entries = found.flatMap(({ value }) => decodeMail(value));
  return [...entries.filter(isUsed), ...entries.filter(isPending).sort((left, right) => left.number - right.number)];
}

export function isPending(entry: MailEntry): entry is PendingMessage {
  return !isUsed(entry);
}
