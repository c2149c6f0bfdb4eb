import type { EngineContext } from "../memory/context.ts";
import { isPending, mailOf } from "../view/mail.ts";

/** A message that waits in a thread's mailbox. */
export interface Message {
  readonly id: string;
  readonly kind: string;
  readonly name: string | null;
  readonly payload: unknown;
  /** When it was sent, in milliseconds since 1970. */
  readonly at: number;
}

/** Reads the messages that wait to be used, in the order in which they were sent. */
export async function pendingMessages(context: EngineContext, thread: string): Promise<readonly Message[]> {
  const tape = await context.thread(thread);
  if (!tape?.meta.mail?.pending) return [];
  return (await mailOf(context, tape)).filter(isPending).map(({ id, kind, name = null, payload, at }) => ({
    id,
    kind,
    name,
    payload: context.codec.decode(payload),
    at,
  }));
}

/** Returns how many messages wait, as far as this store knows without reading anything. */
export function knownToWait(context: EngineContext, thread: string): number {
  return context.rememberedThread(thread)?.meta.mail?.pending ?? 0;
}
