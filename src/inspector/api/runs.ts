import type { RunOrder } from "../app/run-order.ts";
import type { Runs } from "../app/runs.ts";
import { HttpError } from "../http/http-error.ts";
import { taggedValue } from "./actions.ts";
import type { RunAnswer } from "./answers.ts";
import { type ApiContext, type Handler, noSuchThread } from "./api-context.ts";

function runsOf({ runs }: ApiContext): Runs {
  if (runs === undefined)
    throw new HttpError(403, "FORBIDDEN", "The inspector runs without --app: nothing can be run from here.");
  return runs;
}

/** Returns the run of a thread that was started here last, with its output. */
export const runFacts: Handler<RunAnswer> = async (context, parameters) => {
  const thread = parameters.text("thread");
  parameters.end();
  return { run: context.runs?.of(thread) ?? null };
};

/** Runs a thread on, in a process of its own, with answers to questions of LangGraph. */
export const startRun: Handler = async (context, parameters) => {
  const thread = parameters.text("thread");
  const answers = (parameters.object("answers") ?? {}) as RunOrder["answers"];
  parameters.end();
  const runs = runsOf(context);
  for (const [id, value] of Object.entries(answers)) taggedValue(value, `The answer to ${id}`);
  const info = await context.catalogue.thread(thread);
  if (info === undefined) throw noSuchThread(thread);
  const head = await context.store.thread(thread).latest();
  const next = [...new Set((head?.next ?? []).map(({ node }) => node))];
  if (!runs.start({ thread, workflow: info.workflow, next, answers }))
    throw new HttpError(409, "BUSY", "This thread is being run on already.");
  return { started: thread };
};

/** Ends the process that runs a thread on. */
export const stopRun: Handler = async (context, parameters) => {
  const thread = parameters.text("thread");
  parameters.end();
  if (!runsOf(context).stop(thread)) throw new HttpError(404, "NOT_FOUND", "Nothing runs for this thread here.");
  return { stopped: thread };
};
