import type { Runs } from "../app/runs.ts";
import { HttpError } from "../http/http-error.ts";
import { type ApiContext, type Handler, noSuchThread } from "./api-context.ts";

function runsOf({ runs }: ApiContext): Runs {
  if (runs === undefined)
    throw new HttpError(403, "FORBIDDEN", "The inspector runs without --app: nothing can be run from here.");
  return runs;
}

/** Returns the run of a thread that was started here last, with its output. */
export const runFacts: Handler = async (context, parameters) => {
  const thread = parameters.text("thread");
  parameters.end();
  return { run: context.runs?.of(thread) ?? null };
};

/** Runs a thread on, in a process of its own. */
export const startRun: Handler = async (context, parameters) => {
  const thread = parameters.text("thread");
  parameters.end();
  const runs = runsOf(context);
  const info = await context.catalogue.thread(thread);
  if (info === undefined) throw noSuchThread(thread);
  if (!runs.start(thread, info.workflow)) throw new HttpError(409, "BUSY", "This thread is being run on already.");
  return { started: thread };
};

/** Ends the process that runs a thread on. */
export const stopRun: Handler = async (context, parameters) => {
  const thread = parameters.text("thread");
  parameters.end();
  if (!runsOf(context).stop(thread)) throw new HttpError(404, "NOT_FOUND", "Nothing runs for this thread here.");
  return { stopped: thread };
};
