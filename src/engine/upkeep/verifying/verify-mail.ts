import type { Found, Value } from "../../../backend.ts";
import type { EngineContext } from "../../memory/context.ts";
import type { Tape } from "../../memory/tape.ts";
import { rangeOf } from "../../records/keys.ts";
import { decodeMail, isUsed, mailKey } from "../../records/mail.ts";
import { decodeMeta } from "../../records/meta.ts";

/** Reads the thread's messages and compares them with their count. */
export async function verifyMail(context: EngineContext, tape: Tape, onFault: (error: unknown) => void): Promise<void> {
  // Invariant: a tape whose meta record has no count was never sent a message.
  if (!tape.meta.mail) return;
  const [meta, found] = (await context.read([{ get: tape.metaKey }, { scan: rangeOf(tape, "mail") }])) as readonly [
    Value | undefined,
    readonly Found[],
  ];
  if (meta === undefined) return;
  let pending = 0;
  for (const { item, part, value } of found) {
    try {
      for (const entry of decodeMail(value)) {
        const key = mailKey(tape, entry.id);
        if (key.item !== item || key.part !== part) throw new Error(`message ${JSON.stringify(entry.id)} is misplaced`);
        if (isUsed(entry)) continue;
        pending += 1;
        context.codec.decode(entry.payload);
      }
    } catch (error) {
      const fault = error instanceof Error ? error.message : String(error);
      onFault(new Error(`record ${tape.number}:${item}:${part} of table mail: ${fault}`));
      return;
    }
  }
  const counted = decodeMeta(meta).mail?.pending ?? 0;
  if (pending !== counted) onFault(new Error(`it has ${pending} pending messages and should have ${counted}`));
}
