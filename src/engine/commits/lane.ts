import type { Batch } from "../../backend.ts";
import { ThreadmarkError } from "../../errors.ts";
import { Attempts, Contention, PATIENCE } from "../../platform/attempts.ts";
import { announce, announceRefusal } from "../../platform/diagnostics.ts";
import { atEndOfTurn, soon } from "../../platform/turns.ts";
import { wasOvertaken } from "../faults/overtaken.ts";
import type { EngineContext } from "../memory/context.ts";
import { type Tape, UNSEALED } from "../memory/tape.ts";
import { inThread } from "../records/size-limits.ts";
import { absorb } from "./absorb.ts";
import { lateAnnouncement } from "./announce.ts";
import { batchOf, complete, isComplete } from "./batch/build-batch.ts";
import { ALONE, Draft } from "./draft/draft.ts";
import type { Committer } from "./group-commit.ts";
import type { Sealer } from "./sealer.ts";
import type { ThreadChange } from "./thread-change.ts";

interface Queued {
  readonly change: ThreadChange<unknown>;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** The result of the latest plan. The caller gets it once the group is committed. */
  outcome?: { readonly result: unknown } | { readonly failure: unknown };
  settled?: true;
}

/** At most this many changes share a commit. */
const GROUP = 256;

/**
 * The changes of one thread, in the order they were asked for. Changes that wait together are planned on one draft and
 * committed as one batch. A refused commit means that another store was first: the tape is read and the group planned again.
 */
export class Lane {
  readonly #context: EngineContext;
  readonly #committer: Committer;
  readonly #thread: string;
  readonly #contention = new Contention();
  #queue: Queued[] = [];
  #running = false;
  /** The tape that the group under way has added rows to. */
  #committed: Tape | undefined;
  #sealer: Sealer | undefined;
  /** True while all queued changes are patient, and none is begun. */
  #waiting = false;
  readonly #startAtLast = (): void => {
    if (this.#waiting) this.#start();
  };
  readonly #start = (): void => {
    this.#waiting = false;
    void this.#run();
  };

  constructor(context: EngineContext, committer: Committer, thread: string) {
    this.#context = context;
    this.#committer = committer;
    this.#thread = thread;
  }

  get idle(): boolean {
    return !this.#running && !this.#sealer?.active;
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
      const tape = this.#remembered(group) ?? (await this.#context.thread(this.#thread));
      const draft = new Draft(this.#context, this.#thread, tape, tape === undefined);
      if (!((await this.#plan(group, draft)) && (await this.#write(group, draft)))) await this.#again(group);
      this.#contention.succeeded();
      for (const { outcome, resolve, reject } of group) {
        if (outcome && "result" in outcome) resolve(outcome.result);
        else reject(outcome?.failure);
      }
    } catch (error) {
      for (const { reject } of group) reject(inThread(error, this.#thread));
    }
    settle(group);
    this.#considerSeal();
    if (this.#queue.length > 0) this.#schedule();
    else {
      this.#running = false;
      this.#context.calls.leave();
    }
  }

  /** Has rows sealed once there are enough for a pack. The answers to their puts are on the way by now. */
  #considerSeal(): void {
    const tape = this.#committed;
    this.#committed = undefined;
    if (tape === undefined) return;
    const { packRows, packBytes } = this.#context;
    if (tape.tail.length < packRows + UNSEALED && tape.tailLength < packBytes) return;
    if (this.#sealer) this.#sealer.after(tape);
    else void this.#loadSealer(tape);
  }

  /** Loads the code with the first seal, which few short processes come to. */
  async #loadSealer(tape: Tape): Promise<void> {
    const { Sealer } = await import("./sealer.ts");
    this.#sealer ??= new Sealer(this.#context, (change) => this.add(change));
    this.#sealer.after(tape);
  }

  /** Plans and writes a group anew until no other store is first. */
  async #again(group: Queued[]): Promise<void> {
    const attempts = new Attempts(this.#contention);
    for (let attempt = 2; ; attempt += 1) {
      if (!(await attempts.again())) throw this.#busy();
      const tape = await this.#context.thread(this.#thread);
      announce("retry", { thread: this.#thread, attempt });
      const draft = new Draft(this.#context, this.#thread, tape, true, true);
      if ((await this.#plan(group, draft)) && (await this.#write(group, draft))) return;
    }
  }

  /** Returns the remembered tape. It may be stale: the commit finds that out, at the price of planning again. */
  #remembered([first]: readonly Queued[]): Tape | undefined {
    // Where other stores write too, a remembered tape is probably stale.
    if (first?.change.fresh || this.#contention.isHigh) return undefined;
    const tape = this.#context.rememberedThread(this.#thread);
    return tape?.meta.dead ? undefined : tape;
  }

  /**
   * Plans the changes of a group on one draft. Resolves to false if the tape proved stale. Changes that cannot share the commit
   * go back to the queue.
   */
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
        announceRefusal(this.#thread, error);
      }
    }
    return !draft.overtaken;
  }

  /** Commits a planned draft. Resolves to false if another store was first. */
  async #write(group: readonly Queued[], draft: Draft): Promise<boolean> {
    let batch: Batch | undefined;
    try {
      if (!isComplete(draft)) await complete(draft);
      batch = batchOf(draft);
    } catch (error) {
      if (await this.#isUnproven(draft, error)) return false;
      throw error;
    }
    if (batch === undefined) {
      // Without a commit, nothing else proves that the tape was up to date when the results were planned on it.
      return !(group.some(({ outcome }) => outcome && "result" in outcome) && (await this.#isStale(draft)));
    }
    // A watch that was begun before this change has to see it.
    if (this.#context.watches.starting !== undefined) await this.#context.watches.starting;
    try {
      if (!(await this.#committer.commit(batch, this.#context.calls.active === 1))) {
        if (draft.uploaded.length > 0) await this.#context.outside.delete(draft.uploaded);
        return false;
      }
      // Trees that the changes were captured against are given back first: then the commit changes them in place.
      settle(group);
      absorb(draft);
      if (draft.planned.length > 0 || draft.unsealed) this.#committed = draft.target;
      if (draft.discarded.length > 0) await this.#context.outside.delete(draft.discarded);
    } catch (failure) {
      if (!(await this.#wasCommitted(draft, failure))) {
        this.#context.forget(this.#thread);
        throw failure;
      }
    }
    const late = lateAnnouncement(draft);
    if (late) await this.#committer.commit(late);
    this.#context.watches.tell();
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

function settle(group: readonly Queued[]): void {
  for (const entry of group) {
    if (entry.settled) continue;
    entry.settled = true;
    entry.change.settled?.();
  }
}
