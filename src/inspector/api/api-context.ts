import type { Store } from "../../api/store.ts";
import type { Thread } from "../../api/thread.ts";
import type { Checkpoint } from "../../model/checkpoint.ts";
import type { Catalogue } from "../caches/catalogue.ts";
import type { StorageSurvey } from "../caches/storage-survey.ts";
import { HttpError } from "../http/http-error.ts";
import { isText, type RequestParameters } from "../http/request-parameters.ts";

export type State = Record<string, unknown>;

/** The store and caches that handlers answer from. */
export interface ApiContext {
  readonly store: Store<State>;
  /** The address shown to people, without passwords. */
  readonly url: string;
  readonly readOnly: boolean;
  readonly catalogue: Catalogue;
  readonly states: RecentCheckpoints;
  readonly survey: StorageSurvey;
}

/** Answers a request; the result is sent as JSON. */
export type Handler = (context: ApiContext, parameters: RequestParameters) => Promise<unknown>;

/** Returns the thread that a request names. */
export function threadOf({ store }: ApiContext, parameters: RequestParameters): Thread<State> {
  const id = parameters.text("thread");
  return store.thread(id, { namespace: parameters.list("namespace", 64, isText) });
}

export function noSuchThread(id: string): HttpError {
  return new HttpError(404, "NOT_FOUND", `There is no thread ${JSON.stringify(id)}.`);
}

const KEPT = 4;
const LIFETIME = 10_000;

/**
 * The checkpoints read last. A large state is read in many small parts, and decoding it for each would take longer than
 * everything else. They are kept for a short time only, since a checkpoint can be replaced.
 */
export class RecentCheckpoints {
  readonly #recent = new Map<string, { readonly at: number; readonly checkpoint: Promise<Checkpoint<State>> }>();

  async get(thread: Thread<State>, id: string): Promise<Checkpoint<State>> {
    const key = JSON.stringify([thread.id, thread.namespace, id]);
    const known = this.#recent.get(key);
    this.#recent.delete(key);
    const fresh = known !== undefined && performance.now() - known.at < LIFETIME;
    const entry = fresh ? known : { at: performance.now(), checkpoint: read(thread, id) };
    this.#recent.set(key, entry);
    for (const oldest of this.#recent.keys()) {
      if (this.#recent.size <= KEPT) break;
      this.#recent.delete(oldest);
    }
    try {
      return await entry.checkpoint;
    } catch (error) {
      this.#recent.delete(key);
      throw error;
    }
  }
}

async function read(thread: Thread<State>, id: string): Promise<Checkpoint<State>> {
  const checkpoint = await thread.get(id);
  if (checkpoint !== undefined) return checkpoint;
  const message = `Thread ${JSON.stringify(thread.id)} has no checkpoint ${JSON.stringify(id)}.`;
  throw new HttpError(404, "NOT_FOUND", message);
}
