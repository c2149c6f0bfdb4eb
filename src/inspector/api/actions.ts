import { setImmediate as turn } from "node:timers/promises";
import { fromTagged, type Json } from "../../display/tagged-json.ts";
import { HttpError, invalid } from "../http/http-error.ts";
import type { Pruned } from "./answers.ts";
import { type ApiContext, type Handler, noSuchThread, threadOf } from "./api-context.ts";
import { answerTargetOf, storeAnswer } from "./questions.ts";
import { pruneRulesIn } from "./storage.ts";

/** Forks a thread at a checkpoint, optionally with parts of the state changed. */
export const fork: Handler = async (context, parameters) => {
  const thread = threadOf(context, parameters);
  const at = parameters.text("checkpoint");
  const into = parameters.optionalText("into");
  const label = parameters.optionalText("label");
  const edits = parameters.object("edits");
  parameters.end();
  const made = await thread.fork({
    at,
    ...(into !== undefined && { into }),
    ...(label !== undefined && { label }),
    ...(edits !== undefined && { edits: taggedValue(edits, "edits") as Record<string, unknown> }),
  });
  context.changed();
  return { thread: made.id };
};

/** Answers a question that a thread waits with. */
export const answer: Handler = async (context, parameters) => {
  const thread = threadOf(context, parameters);
  const id = parameters.text("checkpoint");
  const interrupt = parameters.text("interrupt");
  const value = taggedValue(parameters.any("value"), "value");
  parameters.end();
  const head = await thread.latest();
  if (head === undefined) throw noSuchThread(thread.id);
  if (head.id !== id) throw new HttpError(409, "CONFLICT", "The thread has gone on. Look at what it asks now.");
  if (!head.interrupts.some((question) => question.id === interrupt)) {
    throw new HttpError(404, "NOT_FOUND", `Nothing waits for an answer under ${JSON.stringify(interrupt)}.`);
  }
  await storeAnswer(await answerTargetOf(context, thread, id, interrupt), value);
  context.changed();
  return { answered: interrupt };
};

export const label: Handler = async (context, parameters) => {
  const thread = threadOf(context, parameters);
  const [id, text] = [parameters.text("checkpoint"), parameters.text("label")];
  parameters.end();
  await thread.label(id, text);
  context.changed();
  return { label: text };
};

/** Reports which checkpoints a prune of a thread, or of the named threads, would delete. */
export const prunePreview: Handler<Pruned> = async (context, parameters) => prune(context, parameters, true);

export const pruneForGood: Handler<Pruned> = async (context, parameters) => prune(context, parameters, false);

const prune = async (context: ApiContext, parameters: Parameters<Handler>[1], dryRun: boolean): Promise<Pruned> => {
  const id = parameters.optionalText("thread");
  const rules = pruneRulesIn(parameters);
  parameters.end();
  const pruned = { threads: 0, deleted: 0, bytesReclaimed: 0 };
  for await (const { id: thread } of id === undefined ? context.catalogue.each() : [{ id }]) {
    const { deleted, bytesReclaimed } = await context.store.thread(thread).prune({ ...rules, dryRun });
    if (deleted > 0) pruned.threads += 1;
    pruned.deleted += deleted;
    pruned.bytesReclaimed += bytesReclaimed;
    // Lets other requests have a turn, since there may be many threads.
    await turn();
  }
  if (!dryRun) context.changed();
  return pruned;
};

/** Deletes a thread, or a single checkpoint of it. */
export const remove: Handler = async (context, parameters) => {
  const thread = threadOf(context, parameters);
  const id = parameters.optionalText("checkpoint");
  parameters.end();
  if (id !== undefined) {
    const deleted = await thread.deleteCheckpoints([id]);
    if (deleted === 0) throw new HttpError(404, "NOT_FOUND", "This checkpoint is gone already.");
    context.changed();
    return { deleted };
  }
  if ((await context.catalogue.thread(thread.id)) === undefined) throw noSuchThread(thread.id);
  await thread.delete();
  context.changed();
  return { deleted: thread.id };
};

/** Checks the value in an editor before it is used. */
export const check: Handler = async (_, parameters) => {
  const value = taggedValue(parameters.any("value"), "value");
  parameters.end();
  return { valid: true, keys: value !== null && typeof value === "object" ? Object.keys(value).length : 0 };
};

/** Reads a tagged value; one that means nothing is refused. */
export function taggedValue(tagged: unknown, name: string): unknown {
  try {
    return fromTagged(tagged as Json);
  } catch (error) {
    throw invalid(
      `${name} has a tagged value that means nothing: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}
