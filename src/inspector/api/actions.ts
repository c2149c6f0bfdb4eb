import { setImmediate as turn } from "node:timers/promises";
import { fromTagged, type Json } from "../../display/tagged-json.ts";
import { invalid, Refusal } from "../http/http-error.ts";
import { type Context, type Handler, noSuchThread, threadOf } from "./context.ts";
import { placeOf, storeAnswer } from "./questions.ts";
import { retentionOf } from "./storage.ts";

/** A new thread that begins here, perhaps with parts of the state changed. */
export const fork: Handler = async (context, parts) => {
  const thread = threadOf(context, parts);
  const at = parts.text("checkpoint");
  const into = parts.optionalText("into");
  const label = parts.optionalText("label");
  const edits = parts.object("edits");
  parts.end();
  const made = await thread.fork({
    at,
    ...(into !== undefined && { into }),
    ...(label !== undefined && { label }),
    ...(edits !== undefined && { edits: valueOf(edits, "edits") as Record<string, unknown> }),
  });
  context.catalogue.changed();
  return { thread: made.id };
};

/** An answer to what a thread waits for. */
export const answer: Handler = async (context, parts) => {
  const thread = threadOf(context, parts);
  const id = parts.text("checkpoint");
  const interrupt = parts.text("interrupt");
  const value = valueOf(parts.any("value"), "value");
  parts.end();
  const head = await thread.latest();
  if (head === undefined) throw noSuchThread(thread.id);
  if (head.id !== id) throw new Refusal(409, "CONFLICT", "The thread has gone on. Look at what it asks now.");
  if (!head.interrupts.some((question) => question.id === interrupt)) {
    throw new Refusal(404, "NOT_FOUND", `Nothing waits for an answer under ${JSON.stringify(interrupt)}.`);
  }
  await storeAnswer(await placeOf(context, thread, id, interrupt), value);
  context.catalogue.changed();
  return { answered: interrupt };
};

export const label: Handler = async (context, parts) => {
  const thread = threadOf(context, parts);
  const [id, text] = [parts.text("checkpoint"), parts.text("label")];
  parts.end();
  await thread.label(id, text);
  return { label: text };
};

/** Says what would go. One thread, or those named. */
export const prunePreview: Handler = async (context, parts) => prune(context, parts, true);

export const pruneForGood: Handler = async (context, parts) => prune(context, parts, false);

const prune = async (context: Context, parts: Parameters<Handler>[1], dryRun: boolean): Promise<unknown> => {
  const id = parts.optionalText("thread");
  const rules = retentionOf(parts);
  parts.end();
  const ids = id === undefined ? (await context.catalogue.all()).map((thread) => thread.id) : [id];
  const pruned = { threads: 0, deleted: 0, bytesReclaimed: 0 };
  for (const thread of ids) {
    const { deleted, bytesReclaimed } = await context.store.thread(thread).prune({ ...rules, dryRun });
    if (deleted > 0) pruned.threads += 1;
    pruned.deleted += deleted;
    pruned.bytesReclaimed += bytesReclaimed;
    // Others wait for answers too, and there may be many threads.
    await turn();
  }
  if (!dryRun) context.catalogue.changed();
  return pruned;
};

/** A thread, or one checkpoint of it. */
export const remove: Handler = async (context, parts) => {
  const thread = threadOf(context, parts);
  const id = parts.optionalText("checkpoint");
  parts.end();
  if (id !== undefined) {
    const deleted = await thread.deleteCheckpoints([id]);
    if (deleted === 0) throw new Refusal(404, "NOT_FOUND", "This checkpoint is gone already.");
    context.catalogue.changed();
    return { deleted };
  }
  if ((await context.catalogue.thread(thread.id)) === undefined) throw noSuchThread(thread.id);
  await thread.delete();
  context.catalogue.changed();
  return { deleted: thread.id };
};

/** Checks what an editor holds, before anything is done with it. */
export const check: Handler = async (_, parts) => {
  const value = valueOf(parts.any("value"), "value");
  parts.end();
  return { valid: true, keys: value !== null && typeof value === "object" ? Object.keys(value).length : 0 };
};

function valueOf(tagged: unknown, name: string): unknown {
  try {
    return fromTagged(tagged as Json);
  } catch (error) {
    throw invalid(
      `${name} has a tagged value that means nothing: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}
