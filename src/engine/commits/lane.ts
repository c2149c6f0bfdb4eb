import type { Batch } from "../../backend.ts";
import { ThreadmarkError } from "../../errors.ts";
import { Attempts, Contention, PATIENCE } from "../../platform/attempts.ts";
import { atEndOfTurn, soon } from "../../platform/turns.ts";
import { wasOvertaken } from "../faults/overtaken.ts";
import type { Context } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import { inThread } from "../records/size-limits.ts";
import { absorb } from "./absorb.ts";
import { batchOf } from "./build-batch.ts";
import { ALONE, Draft } from "./draft.ts";
import type { Committer } from "./group-commit.ts";

/** A change of one thread: planned against the tape as it is remembered, and planned again when that proved stale. */
export interface ThreadChange<T> {
  /** Adds records to the draft and resolves to the caller's answer. When it rejects, the draft is as it was before. */
  plan(draft: Draft): Promise<T>;
  /** True for a change that depends on all rows of the thread: the tape is read just before it is planned. */
  readonly fresh?: boolean;
  /**
   * True for a change that waits for the end of the turn, unless another comes that does not: a task's writes are mostly
   * followed by the checkpoint of its step, and share its commit.
   */
  readonly patient?: boolean;
  /** Called once, when the change has been committed or has failed. */
  settled?(): void;
}

interface Queued {
  readonly change: ThreadChange<unknown>;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** The result of the latest plan. The caller gets it once the group is committed. */
  outcome?: { readonly result: unknown } | { readonly failure: unknown };
}

/** At most this many changes share a commit. */
const GROUP = 256;

/**
 * The changes of one thread, in the order they were asked for. Changes that wait together are planned on one draft and
 * committed as one batch. A refused commit means that another store was first: the tape is read and the group planned again.
 */
export class Lane {
  readonly #context: Context;
  readonly #committer: Committer;
  readonly #thread: string;
  readonly #contention = new Contention();
  #queue: Queued[] = [];
  #running = false;
  /** True while all queued changes are patient, and none is begun. */
  #waiting = false;
  readonly #startAtLast = (): void => {
    if (this.#waiting) this.#start();
  };
  readonly #start = (): void => {
    this.#waiting = false;
    void this.#run();
  };

  constructor(context: Context, committer: Committer, thread: string) {
    this.#context = context;
    this.#committer = committer;
    this.#thread = thread;
  }

  get idle(): boolean {
    return !this.#running;
  }

  add<T>(change: ThreadChange<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ change, resolve: resolve as (result: unknown) => void, reject });
      if (this.#running) {
        if (this.#waiting && !change.patient) this.#schedule();
        return;
      }
      this.#running = true;
      this.#context.calls.enter();
      this.#schedule();
    });
  }

  #schedule(): void {
    this.#waiting = this.#queue.every(({ change }) => change.patient);
    if (this.#waiting) atEndOfTurn(this.#startAtLast);
    else soon(this.#start);
  }

  /** Commits one group, answers its callers, and goes on to the next. */
  async #run(): Promise<void> {
    if (this.#contention.isHigh) await this.#contention.pause();
    const group = this.#queue.splice(0, GROUP);
    try {
      await this.#commit(group);
      for (const { outcome, resolve, reject } of group) {
        if (outcome && "result" in outcome) resolve(outcome.result);
        else reject(outcome?.failure);
      }
    } catch (error) {
      for (const { reject } of group) reject(inThread(error, this.#thread));
    }
    for (const { change } of group) change.settled?.();
    if (this.#queue.length > 0) this.#schedule();
    else {
      this.#running = false;
      this.#context.calls.leave();
    }
  }

  /** Plans and writes a group until no other store was first. Changes that cannot share the commit go back to the queue. */
  async #commit(group: Queued[]): Promise<void> {
    const attempts = new Attempts(this.#contention);
    let tape = this.#remembered(group) ?? (await this.#context.thread(this.#thread));
    for (let again = false; ; again = true) {
      const draft = new Draft(this.#context, this.#thread, tape, again || tape === undefined, again);
      if ((await this.#plan(group, draft)) && (await this.#write(group, draft))) {
        this.#contention.succeeded();
        return;
      }
      if (!(await attempts.again())) throw this.#busy();
      tape = await this.#context.thread(this.#thread);
    }
  }

  /** Returns the remembered tape. It may be stale: the commit finds that out, at the price of planning again. */
  #remembered([first]: readonly Queued[]): Tape | undefined {
    // Where other stores write too, a remembered tape is probably stale.
    if (first?.change.fresh || this.#contention.isHigh) return undefined;
    const tape = this.#context.rememberedThread(this.#thread);
    return tape?.meta.dead ? undefined : tape;
  }

  /** Plans the changes of a group on one draft. Resolves to false if the tape proved stale. */
  async #plan(group: Queued[], draft: Draft): Promise<boolean> {
    for (let index = 0; index < group.length; index += 1) {
      const entry = group[index] as Queued;
      if (draft.closed || draft.heavy || (entry.change.fresh && index > 0)) {
        this.#queue.unshift(...group.splice(index));
        break;
      }
      const takeBack = draft.mark();
      try {
        entry.outcome = { result: await entry.change.plan(draft) };
      } catch (error) {
        const { overtaken } = draft;
        takeBack();
        if (error === ALONE) {
          this.#queue.unshift(...group.splice(index));
          break;
        }
        if (overtaken || (await this.#isUnproven(draft, error))) return false;
        entry.outcome = { failure: inThread(error, this.#thread) };
      }
    }
    return !draft.overtaken;
  }

  /** Commits a planned draft. Resolves to false if another store was first. */
  async #write(group: readonly Queued[], draft: Draft): Promise<boolean> {
    let batch: Batch | undefined;
    try {
      batch = await batchOf(draft);
    } catch (error) {
      if (await this.#isUnproven(draft, error)) return false;
      throw error;
    }
    if (batch === undefined) {
      // Without a commit, nothing else proves that the tape was up to date when the results were planned on it.
      return !(group.some(({ outcome }) => outcome && "result" in outcome) && (await this.#isStale(draft)));
    }
    try {
      if (!(await this.#committer.commit(batch, this.#context.calls.active === 1))) return false;
      absorb(draft);
    } catch (failure) {
      if (await this.#wasCommitted(draft, failure)) return true;
      this.#context.forget(this.#thread);
      throw failure;
    }
    return true;
  }

  /** Resolves to true if a failure is no answer yet, because the tape it was found on has changed since. */
  async #isUnproven(draft: Draft, error: unknown): Promise<boolean> {
    const isStale = (): Promise<boolean> => this.#isStale(draft);
    return (await wasOvertaken(error, isStale)) || (!draft.fresh && (await isStale()));
  }

  /** Reads the tape and compares it by value: where memory is short, planning itself drives the object out. */
  async #isStale({ before }: Draft): Promise<boolean> {
    if (before.tape === undefined) return false;
    const now = await this.#context.thread(this.#thread);
    return now?.name !== before.tape.name || now.metaValue !== before.metaValue || now.lastSeq !== before.lastSeq;
  }

  /**
   * Finds out whether only the answer of a commit was lost, by the record of the draft's last row. Another store may have
   * committed a row under the same seq in the same millisecond, which gives it the same id: the whole record is compared.
   */
  async #wasCommitted(draft: Draft, failure: unknown): Promise<boolean> {
    const isKnown = !(failure instanceof ThreadmarkError) || failure.committed !== "unknown";
    const last = draft.planned.at(-1)?.tail;
    if (isKnown || draft.retried || !last || !draft.target) return false;
    const tape = await this.#context.thread(this.#thread);
    return tape?.name === draft.target.name && tape.tailRow(last.row.seq)?.value === last.value;
  }

  #busy(): ThreadmarkError {
    return new ThreadmarkError(
      "BUSY",
      `Thread ${JSON.stringify(this.#thread)} was changed by others again and again for ${PATIENCE / 1000} seconds. Try again, or use a lease.`,
      { thread: this.#thread, committed: false },
    );
  }
}
