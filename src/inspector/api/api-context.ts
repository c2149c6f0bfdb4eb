import type { Store } from "../../api/store.ts";
import type { Thread } from "../../api/thread.ts";
import type { Renderers } from "../../display/values/renderers.ts";
import type { Runs } from "../app/runs.ts";
import type { Catalogue } from "../caches/catalogue.ts";
import type { Heads } from "../caches/heads.ts";
import type { RecentCheckpoints } from "../caches/recent-checkpoints.ts";
import type { StepSummaries } from "../caches/step-summaries.ts";
import type { StorageSurvey } from "../caches/storage-survey.ts";
import type { Timelines } from "../caches/timelines.ts";
import { HttpError } from "../http/http-error.ts";
import { isText, type RequestParameters } from "../http/request-parameters.ts";

export type State = Record<string, unknown>;

/** The store and caches that handlers answer from. */
export interface ApiContext {
  readonly store: Store<State>;
  /** The address shown to people, without passwords. */
  readonly url: string;
  readonly readOnly: boolean;
  readonly renderers: Renderers;
  readonly catalogue: Catalogue;
  readonly states: RecentCheckpoints;
  readonly survey: StorageSurvey;
  readonly timelines: Timelines;
  readonly summaries: StepSummaries;
  readonly heads: Heads;
  /** The runs of the application; undefined unless `--app` named one. */
  readonly runs: Runs | undefined;
  /** Makes every cache show a change that was made here. */
  readonly changed: () => void;
}

/** Answers a request; the result is sent as JSON. */
export type Handler<Answer = unknown> = (context: ApiContext, parameters: RequestParameters) => Promise<Answer>;

/** Returns the thread that a request names. */
export function threadOf({ store }: ApiContext, parameters: RequestParameters): Thread<State> {
  const id = parameters.text("thread");
  return store.thread(id, { namespace: parameters.list("namespace", 64, isText) });
}

export function noSuchThread(id: string): HttpError {
  return new HttpError(404, "NOT_FOUND", `There is no thread ${JSON.stringify(id)}.`);
}
