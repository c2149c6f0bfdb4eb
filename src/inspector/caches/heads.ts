import type { Store } from "../../api/store.ts";
import { changeSummary } from "../../display/steps/changes.ts";
import { type Failure, failuresIn } from "../../display/steps/failure.ts";
import { questionsOf, type ShownQuestion } from "../../display/steps/question.ts";
import { oneLine } from "../../display/values/records.ts";
import type { Renderers } from "../../display/values/renderers.ts";
import type { CheckpointInfo, ThreadInfo } from "../../model/checkpoint.ts";
import { RecentMap } from "../../platform/recent-map.ts";

/** Where a thread stands: its open questions, its failures, and a line for a list. */
export interface ThreadHead {
  readonly checkpoint: CheckpointInfo;
  readonly questions: readonly ShownQuestion[];
  /** The ids of questions that are answered, for the next run to pick up. */
  readonly answered: ReadonlySet<string>;
  readonly failures: readonly Failure[];
  readonly line: { readonly kind: "question" | "failure" | "change"; readonly text: string };
}

interface Known {
  readonly head: Promise<ThreadHead | undefined>;
  /** When it is read again, if the thread is unfinished. */
  until: number;
}

const MOST = 3_000;
/** Writes may arrive at a head without a new checkpoint, so an unfinished one is read again after this many milliseconds. */
const TRUSTED = 1_500;
/** A head that takes long to read is kept for this many times that long. */
const IDLE_FACTOR = 10;
const LINE = 160;

/** The heads of threads as people read them. */
export class Heads {
  readonly #store: Store;
  readonly #renderers: Renderers;
  readonly #known = new RecentMap<string, Known>(MOST);

  constructor(store: Store, renderers: Renderers) {
    this.#store = store;
    this.#renderers = renderers;
  }

  async of(info: ThreadInfo): Promise<ThreadHead | undefined> {
    const { id, head, status } = info;
    const key = JSON.stringify([id, head.namespace, head.id, status]);
    const known = this.#known.get(key);
    const isFresh = known !== undefined && (head.pending === 0 || performance.now() < known.until);
    const entry = isFresh ? known : this.#begin(info);
    this.#known.set(key, entry);
    try {
      return await entry.head;
    } catch (error) {
      this.#known.delete(key);
      throw error;
    }
  }

  #begin(info: ThreadInfo): Known {
    const started = performance.now();
    const head = this.#read(info);
    const entry: Known = { head, until: started + TRUSTED };
    const settle = (): void => {
      entry.until = started + Math.max(TRUSTED, (performance.now() - started) * IDLE_FACTOR);
    };
    head.then(settle, settle);
    return entry;
  }

  forget(): void {
    this.#known.clear();
  }

  async #read({ id, head }: ThreadInfo): Promise<ThreadHead | undefined> {
    const thread = this.#store.thread(id, { namespace: head.namespace });
    const tuple = await thread.tuple(head.id);
    if (tuple === undefined) return undefined;
    const { checkpoint, writes } = tuple;
    const {
      state,
      path: _path,
      next,
      completed: _completed,
      interrupts: _interrupts,
      barriers: _barriers,
      ...info
    } = checkpoint;
    const questions = questionsOf(checkpoint, writes);
    const answered = new Set(questions.filter((question) => question.answered).map((question) => question.id));
    const failures = failuresIn(writes, next);
    const open = questions.find((question) => !question.answered);
    const facts = { checkpoint: info, questions, answered, failures };
    if (open !== undefined) return { ...facts, line: { kind: "question", text: oneLine(open.text, LINE) } };
    const [failure] = failures;
    if (failure !== undefined)
      return {
        ...facts,
        line: { kind: "failure", text: oneLine(`${failure.node ?? failure.name}: ${failure.message}`, LINE) },
      };
    const parent = head.parent === null ? undefined : await thread.get(head.parent);
    return { ...facts, line: { kind: "change", text: changeSummary(parent?.state, state, this.#renderers) } };
  }
}
