import type { Store } from "../../api/store.ts";
import type { Thread } from "../../api/thread.ts";
import type { Checkpoint } from "../../model/checkpoint.ts";
import { nearest } from "../../model/nearest.ts";
import { CommandFailure, exitCodes } from "../failure.ts";
import { printable } from "../output/printable.ts";
import type { State } from "../session.ts";

/** How many ids are compared to find the id that was meant. */
const LOOKED_AT = 10_000;
const SHORTEST_PART = 4;

/** Returns a thread that exists; else fails and names the thread that may have been meant. */
export async function existingThread(
  store: Store<State>,
  id: string,
  namespace: readonly string[] = [],
): Promise<Thread<State>> {
  const thread = store.thread(id, { namespace });
  for await (const _ of thread.history({ limit: 1 })) return thread;
  if (namespace.length > 0 && (await store.thread(id).namespaces()).length > 0) {
    const there = (await store.thread(id).namespaces()).map((parts) => parts.join(" / ") || "(root)").join(", ");
    throw notFound(
      `Thread ${quoted(id)} has no namespace ${quoted(namespace.join(" / "))}; it has: ${printable(there)}.`,
    );
  }
  const ids: string[] = [];
  for await (const info of store.threads({ limit: LOOKED_AT })) ids.push(info.id);
  throw notFound(`There is no thread ${quoted(id)}.${meant(nearest(id, ids))}`);
}

/**
 * Returns the checkpoint that a reference names: an id, `@3` for the last with step 3, or the beginning or end of an
 * id, if it is unique. Without a reference, returns the head.
 */
export async function checkpointAt(thread: Thread<State>, reference: string | undefined): Promise<Checkpoint<State>> {
  const found =
    reference === undefined
      ? await thread.latest()
      : ((await thread.get(reference)) ?? (await short(thread, reference)));
  if (found !== undefined) return found;
  const ids: string[] = [];
  for await (const { id } of thread.history({ limit: LOOKED_AT })) ids.push(id);
  const step = stepOf(reference);
  if (step !== undefined) throw notFound(`Thread ${quoted(thread.id)} has no step ${step}.${await range(thread)}`);
  const name = reference === undefined ? "no checkpoint" : `no checkpoint ${quoted(reference)}`;
  const hint = /^-?\d+$/.test(reference ?? "")
    ? ` Step ${reference} is named @${reference}.`
    : meant(nearest(reference ?? "", ids));
  throw notFound(`Thread ${quoted(thread.id)} has ${name}.${hint}`);
}

function stepOf(reference: string | undefined): number | undefined {
  const step = /^@(-?\d+)$/.exec(reference ?? "")?.[1];
  return step === undefined ? undefined : Number(step);
}

/** Says which steps a thread has. */
async function range(thread: Thread<State>): Promise<string> {
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for await (const { step } of thread.history({ limit: LOOKED_AT })) {
    least = Math.min(least, step);
    most = Math.max(most, step);
  }
  if (least > most) return "";
  return least === most ? ` Its only step is @${least}.` : ` Its steps are @${least} to @${most}.`;
}

async function short(thread: Thread<State>, reference: string): Promise<Checkpoint<State> | undefined> {
  const step = stepOf(reference);
  if (step !== undefined) return thread.get({ step });
  if (reference.length < SHORTEST_PART) return undefined;
  const matching: string[] = [];
  for await (const { id } of thread.history({ limit: LOOKED_AT })) {
    if (id.startsWith(reference) || id.endsWith(reference)) matching.push(id);
    if (matching.length > 1) {
      const message = `${quoted(reference)} could be ${matching.map(quoted).join(" or ")}, among others. Give more of the id.`;
      throw new CommandFailure(exitCodes.notFound, "NOT_FOUND", message);
    }
  }
  return matching[0] === undefined ? undefined : thread.get(matching[0]);
}

function quoted(text: string): string {
  return printable(JSON.stringify(text));
}

function meant(candidate: string | undefined): string {
  return candidate === undefined ? "" : ` Did you mean ${quoted(candidate)}?`;
}

function notFound(message: string): CommandFailure {
  return new CommandFailure(exitCodes.notFound, "NOT_FOUND", message);
}
