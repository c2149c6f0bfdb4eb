import type { Found } from "../../backend.ts";
import type { BatchBuilder } from "../commits/batch/batch.ts";
import type { EngineContext } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import { rangeOf } from "../records/keys.ts";
import { decodeMail, encodeMail, isUsed } from "../records/mail.ts";

/** Marks of messages that were used longer ago than this are dropped. */
const USED_AGE = 7 * 24 * 60 * 60 * 1000;

/**
 * Drops the marks of messages that were used long ago. The caller checks the meta record, which every other change of the
 * mailbox changes.
 */
export async function dropUsedMail(batch: BatchBuilder, context: EngineContext, tape: Tape): Promise<void> {
  const now = context.clock();
  const [found] = (await context.read([{ scan: rangeOf(tape, "mail") }])) as readonly [readonly Found[]];
  for (const { item, part, value } of found) {
    const entries = decodeMail(value);
    const kept = entries.filter((entry) => !isUsed(entry) || now - entry.at <= USED_AGE);
    if (kept.length === 0) batch.delete(tape.key("mail", item, part));
    else if (kept.length < entries.length) batch.put(tape.key("mail", item, part), encodeMail(kept));
  }
}
