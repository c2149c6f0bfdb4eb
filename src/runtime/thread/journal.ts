import type { Thread } from "../../api/thread.ts";
import { ThreadmarkError } from "../../errors.ts";
import type { LeaseToken, PutFields, WritesInput } from "../../model/arguments.ts";
import type { Checkpoint, CheckpointInfo } from "../../model/checkpoint.ts";
import { StorageFailure } from "../errors.ts";
import type { Values } from "../graph/reducers.ts";
import { timeOrderedId } from "./identity.ts";
import { ANSWER, GOTO, infoOf, type Position, resultWrites } from "./position.ts";

/**
 * When a boundary is written.
 *
 * - `sync`: it is durable before the next step starts
 * - `async`: in order, behind the running step; a failed write fails the run at the next boundary
 * - `exit`: only the last boundary, and interrupts and failures
 */
export type Durability = "sync" | "async" | "exit";

export interface JournalOptions {
  /** Undefined: nothing is kept. */
  readonly thread: Thread<Values> | undefined;
  readonly lease: LeaseToken | undefined;
  readonly durability: Durability;
  readonly workflow: string;
  /** The namespace's head when the run began. */
  readonly head: Checkpoint | undefined;
}

export interface CommitOptions {
  /** The id to give it; default: the store's choice. */
  readonly id?: string;
  /** The checkpoint to branch from, when that is not the head; null: a new root. */
  readonly parent?: string | null;
}

/** Turns the refusal of a task's writes into the fault to report: that of its node, if its value cannot be stored. */
export type Blame = (error: ThreadmarkError) => Error;

/** Writes one namespace of one run: boundaries, task results, questions and errors, as the durability mode asks. */
export class Journal {
  readonly #options: JournalOptions;
  readonly #eager: boolean;
  #info: CheckpointInfo | undefined;
  #parent: string | null | undefined;
  /** Writes of the running step, not yet known to be durable. They never reject: a fault is what they resolve to. */
  #writes: Promise<Error | undefined>[] = [];
  /** With `exit`: writes that are not needed, unless the step that the store has is one that fails or asks. */
  #held: (() => Promise<Error | undefined>)[] = [];
  /** The boundary being written behind the running step. */
  #flight: Promise<Error | undefined> | undefined;

  constructor(options: JournalOptions) {
    this.#options = options;
    this.#eager = options.thread !== undefined && options.durability !== "exit";
    this.#info = options.head && infoOf(options.head);
  }

  /** The last checkpoint that is known to be in the store. */
  get head(): CheckpointInfo | undefined {
    return this.#info;
  }

  /** A boundary. With `sync` it is durable when this returns, with `async` the one before it is. */
  async commit(position: Position, options: CommitOptions = {}): Promise<void> {
    if (options.parent !== undefined) this.#parent = options.parent;
    if (!this.#eager) {
      this.#held = [];
      return;
    }
    if (this.#options.durability === "sync") return this.#raise(await this.#write(position, options.id));
    await this.#land();
    this.#flight = this.#write(position, options.id);
  }

  /** A position that must be durable, in every mode; and everything before it. */
  async flush(position: Position, options: CommitOptions = {}): Promise<void> {
    await this.#land();
    if (this.#options.thread !== undefined && position.id === undefined) {
      // What its tasks did goes with the position itself.
      if (!this.#eager) this.#held = [];
      this.#raise(await this.#write(position, options.id));
    } else {
      await this.#settleWrites();
    }
  }

  /** The id of a position; undefined where the mode leaves it unwritten. */
  async idOf(position: Position): Promise<string | undefined> {
    if (position.id === undefined) await this.#land();
    return position.id;
  }

  /** Saves what became of a task. The store commits those of one turn together, and with the boundary if that follows. */
  save(position: Position, input: WritesInput, blame: Blame): void {
    if (this.#options.thread === undefined) return;
    if (this.#eager) this.#writes.push(this.#save(position, input, blame));
    else this.#held.push(() => this.#save(position, input, blame));
  }

  /** Saves something against the head, now. */
  async saveAtHead(input: WritesInput): Promise<void> {
    if (this.#options.thread === undefined || this.#info === undefined) return;
    try {
      await this.#options.thread.putWrites(this.#info.id, input, this.#leased());
    } catch (error) {
      throw new StorageFailure(error);
    }
  }

  /** Waits until all that was begun is durable, and throws the first fault among it. */
  async drain(): Promise<void> {
    await this.#land();
    await this.#settleWrites();
  }

  async #land(): Promise<void> {
    const flight = this.#flight;
    const fault = await flight;
    // Not before: writes that wait for it find it here.
    if (this.#flight === flight) this.#flight = undefined;
    this.#raise(fault);
  }

  /** The writes begun so far, which whoever takes them must wait for. */
  #takeWrites(): readonly Promise<Error | undefined>[] {
    const writes = [...this.#writes, ...this.#held.map((save) => save())];
    this.#writes = [];
    this.#held = [];
    return writes;
  }

  async #settleWrites(): Promise<void> {
    const writes = this.#takeWrites();
    for (const fault of await Promise.all(writes)) this.#raise(fault);
  }

  #raise(fault: Error | undefined): void {
    if (fault !== undefined) throw fault;
  }

  async #save(position: Position, input: WritesInput, blame: Blame): Promise<Error | undefined> {
    // Only behind a boundary in flight is the id unknown; if that fails, there is nothing to save against.
    if (position.id === undefined) await this.#flight;
    if (position.id === undefined) return undefined;
    try {
      await this.#options.thread?.putWrites(position.id, input, this.#leased());
      return undefined;
    } catch (error) {
      const unstorable = error instanceof ThreadmarkError && error.code === "SERIALIZE";
      return unstorable ? blame(error) : new StorageFailure(error);
    }
  }

  /** Puts the position together with the writes of the step before it; resolves to the fault, if there was one. */
  async #write(position: Position, id: string | undefined): Promise<Error | undefined> {
    const writes = this.#takeWrites();
    const put = this.#put(position, id).then(
      (info) => ({ info, error: undefined }),
      (error: unknown) => ({ info: undefined, error }),
    );
    const faults = await Promise.all(writes);
    const { info, error } = await put;
    // Without the boundary, a task whose result cannot be stored is the first to blame.
    if (info === undefined) return faults.find((fault) => fault !== undefined) ?? new StorageFailure(error);
    this.#info = info;
    position.id = info.id;
    this.#parent = undefined;
    return faults.find((fault) => fault instanceof StorageFailure);
  }

  async #put(position: Position, given: string | undefined): Promise<CheckpointInfo> {
    const thread = this.#options.thread as Thread<Values>;
    const id = given ?? (hasProgress(position) ? timeOrderedId() : undefined);
    const { state, change, step, source, node, path, next, interrupts, barriers, run, notes } = position;
    const fields: PutFields = {
      ...(id === undefined ? {} : { id }),
      ...(position.plainPath && this.#eager ? {} : { path }),
      ...(Object.keys(notes).length === 0 ? {} : { metadata: { flow: notes } }),
      step,
      source,
      node,
      next,
      completed: [...position.progress.results.keys()],
      interrupts,
      barriers,
      run,
      workflow: this.#options.workflow,
    };
    const options = {
      ...this.#leased(),
      ...(this.#parent === undefined ? {} : { parent: this.#parent }),
      expect: this.#info?.id ?? null,
    };
    // The writes go first, so that the checkpoint never stands without what it says is completed.
    const copies = id === undefined ? [] : this.#copyProgress(thread, position, id);
    const put =
      change !== undefined && this.#eager
        ? thread.put({ ...fields, update: change }, options)
        : thread.put({ ...fields, state }, options);
    const [info] = await Promise.all([put, ...copies]);
    return info;
  }

  #copyProgress(thread: Thread<Values>, { next, progress }: Position, id: string): Promise<unknown>[] {
    const copies: Promise<unknown>[] = [];
    const copy = (task: string, node: string | null, writes: WritesInput["writes"]): void => {
      copies.push(thread.putWrites(id, { task, node, writes }, this.#leased()));
    };
    for (const { node, task } of next) {
      const result = progress.results.get(task);
      if (result !== undefined) copy(task, node, resultWrites(result.update, result.goto));
      const goto = progress.gotos.get(task);
      if (goto !== undefined) copy(task, node, [{ channel: GOTO, value: goto, index: ANSWER }]);
    }
    for (const [question, value] of progress.answers)
      copy(question, null, [{ channel: "answer", value, index: ANSWER }]);
    return copies;
  }

  #leased(): { lease?: LeaseToken } {
    const { lease } = this.#options;
    return lease === undefined ? {} : { lease };
  }
}

function hasProgress({ progress }: Position): boolean {
  return progress.results.size > 0 || progress.answers.size > 0 || progress.gotos.size > 0;
}
