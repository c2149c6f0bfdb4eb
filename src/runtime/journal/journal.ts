import { setDue } from "../../api/adapter.ts";
import { mailboxOf } from "../../api/mailbox.ts";
import type { Thread } from "../../api/thread.ts";
import { ThreadmarkError } from "../../errors.ts";
import type { AttributeChanges } from "../../model/attributes.ts";
import type { CheckpointInfo } from "../../model/checkpoint.ts";
import type { LeaseToken, PutFields, PutInput, WritesInput } from "../../model/interface/options.ts";
import { StorageFailure } from "../errors.ts";
import type { Values } from "../graph/reducers.ts";
import { infoOf, type Position } from "../position/graph-position.ts";
import { answerWrite, controlWrite, gotoWrite, resultWrites } from "../position/step-progress.ts";
import { timeOrderedId } from "../position/time-ordered-id.ts";
import type { BlameTask, CommitOptions, JournalOptions } from "./journal-options.ts";
import { dueOf, hasProgress, isMoreThanOpen, metadataOf, notesToKeep } from "./kept-progress.ts";

/** Writes the boundaries, task results, questions and errors of one namespace of a run, as its durability asks. */
export class Journal {
  readonly #options: JournalOptions;
  readonly #eager: boolean;
  #info: CheckpointInfo | undefined;
  #parent: string | null | undefined;
  /** With `exit`: the id that the position committed last is to have once it is written. */
  #id: string | undefined;
  #consume: readonly string[] = [];
  #attributes: AttributeChanges | undefined;
  /** When a worker is to take the thread, as far as this journal has said: at once, at a time, or not at all. */
  #due: "now" | number | null | undefined;
  /** Writes of the running step that are not known to be durable. Invariant: they never reject, but resolve to the fault. */
  #writes: Promise<Error | undefined>[] = [];
  /** With `exit`: writes against a stored position, needed only if its step fails or asks. */
  #held: (() => Promise<Error | undefined>)[] = [];
  /** With `async`: the boundary that is being written while the step runs. */
  #boundary: Promise<Error | undefined> | undefined;
  #ensuring: Promise<void> | undefined;

  constructor(options: JournalOptions) {
    this.#options = options;
    this.#eager = options.thread !== undefined && options.durability !== "exit";
    this.#info = options.head && infoOf(options.head);
  }

  /** Returns the last checkpoint that is known to be in the store. */
  get head(): CheckpointInfo | undefined {
    return this.#info;
  }

  /** Commits a boundary. When this resolves, the boundary is durable with `sync`, and the one before it with `async`. */
  async commit(position: Position, options: CommitOptions = {}): Promise<void> {
    if (options.parent !== undefined) this.#parent = options.parent;
    if (options.consume !== undefined) this.#consume = options.consume;
    if (options.attributes !== undefined) this.#attributes = options.attributes;
    if (!this.#eager) {
      this.#held = [];
      this.#id = options.id;
      return;
    }
    if (this.#options.durability === "sync") return this.#raise(await this.#write(position, options.id));
    await this.#settleBoundary();
    this.#boundary = this.#write(position, options.id);
  }

  /** Makes a position, and everything before it, durable in every mode. */
  async flush(position: Position, options: CommitOptions = {}): Promise<void> {
    await this.#settleBoundary();
    if (this.#options.thread !== undefined && position.id === undefined) {
      // The put itself carries the progress of the position's tasks.
      if (!this.#eager) this.#held = [];
      this.#raise(await this.#write(position, options.id, options.inPlace));
    } else {
      await this.#settleWrites();
    }
  }

  /** Makes a position durable that its mode may have left unwritten; `outer` is then noted as that of a nested graph. */
  async ensure(position: Position, outer: string | undefined): Promise<void> {
    await this.#settleBoundary();
    if (this.#options.thread === undefined || position.id !== undefined) return;
    // Several tasks may ask for it at the same time.
    this.#ensuring ??= this.#ensure(position, outer).finally(() => {
      this.#ensuring = undefined;
    });
    await this.#ensuring;
  }

  async #ensure(position: Position, outer: string | undefined): Promise<void> {
    this.#held = [];
    const stored: Position = { ...position, notes: { ...position.notes, ...(outer !== undefined && { outer }) } };
    this.#raise(await this.#write(stored, this.#id));
    position.id = stored.id;
  }

  /** Returns the id of a position; undefined where the mode leaves the position unwritten. */
  async idOf(position: Position): Promise<string | undefined> {
    if (position.id === undefined) await this.#settleBoundary();
    return position.id;
  }

  /** Saves writes of a task. The store commits all writes of an event loop turn together, and with a boundary that follows. */
  save(position: Position, input: WritesInput, blame: BlameTask): void {
    if (this.#options.thread === undefined) return;
    if (this.#eager) this.#writes.push(this.#save(position, input, blame));
    else this.#held.push(() => this.#save(position, input, blame));
  }

  /** Stores answers to stops, or remembered steps, at once and in every mode. The position must be stored. */
  async remember(position: Position, answers: ReadonlyMap<string, unknown>): Promise<void> {
    const { thread } = this.#options;
    if (thread === undefined || position.id === undefined) return;
    const { id } = position;
    const saving = [...answers].map(([stop, value]) =>
      thread.putWrites(id, { task: stop, node: null, writes: [answerWrite(value)] }, this.#leased()),
    );
    await Promise.all(saving);
  }

  /** Saves writes against a stored position at once, in every mode. */
  async saveAt({ id }: Position, input: WritesInput): Promise<void> {
    if (id !== undefined) await this.#options.thread?.putWrites(id, input, this.#leased());
  }

  /** Saves writes against the head at once, in every mode. */
  async saveAtHead(input: WritesInput): Promise<void> {
    if (this.#options.thread === undefined || this.#info === undefined) return;
    try {
      await this.#options.thread.putWrites(this.#info.id, input, this.#leased());
    } catch (error) {
      throw new StorageFailure(error);
    }
  }

  /** Says when a worker is to take the thread, where no put does: at once, or not at all. */
  async setDue(due: "now" | null): Promise<void> {
    const { thread, lease, schedule } = this.#options;
    if (thread === undefined || schedule === undefined || this.#info === undefined || this.#due === due) return;
    try {
      await setDue(thread, due === "now" ? schedule() : null, lease);
      this.#due = due;
    } catch (error) {
      throw new StorageFailure(error);
    }
  }

  /** Waits until every write that was begun is durable, and throws the first fault. */
  async drain(): Promise<void> {
    await this.#settleBoundary();
    await this.#settleWrites();
  }

  async #settleBoundary(): Promise<void> {
    const boundary = this.#boundary;
    const fault = await boundary;
    // Cleared only now, because #save waits for the boundary through this field.
    if (this.#boundary === boundary) this.#boundary = undefined;
    this.#raise(fault);
  }

  /** Returns the writes of the step and begins those held back. The caller must wait for them. */
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

  async #save(position: Position, input: WritesInput, blame: BlameTask): Promise<Error | undefined> {
    // The id is unknown only while the boundary is being written. If that fails, there is no checkpoint to save against.
    if (position.id === undefined) await this.#boundary;
    if (position.id === undefined) return undefined;
    try {
      await this.#options.thread?.putWrites(position.id, input, this.#leased());
      return undefined;
    } catch (error) {
      const unstorable = error instanceof ThreadmarkError && error.code === "SERIALIZE";
      return unstorable ? blame(error) : new StorageFailure(error);
    }
  }

  /** Puts the position together with the writes of the step before it. Resolves to the fault, if there was one. */
  async #write(position: Position, id: string | undefined, inPlace = false): Promise<Error | undefined> {
    const writes = this.#takeWrites();
    const put = this.#put(position, id, inPlace).then(
      (info) => ({ info, error: undefined }),
      (error: unknown) => ({ info: undefined, error }),
    );
    const faults = await Promise.all(writes);
    const { info, error } = await put;
    // If the put failed too, a task whose result cannot be stored is the likelier cause, and is reported.
    if (info === undefined) return faults.find((fault) => fault !== undefined) ?? new StorageFailure(error);
    this.#info = info;
    position.id = info.id;
    this.#parent = undefined;
    this.#id = undefined;
    this.#consume = [];
    this.#attributes = undefined;
    this.#due = dueOf(position);
    return faults.find((fault) => fault instanceof StorageFailure);
  }

  async #put(position: Position, given: string | undefined, inPlace: boolean): Promise<CheckpointInfo> {
    const thread = this.#options.thread as Thread<Values>;
    const id = given ?? (hasProgress(position) ? timeOrderedId() : undefined);
    const { state, change, step, source, node, path, next, interrupts, barriers, run } = position;
    const notes = notesToKeep(position);
    const fields: PutFields = {
      ...(id === undefined ? {} : { id }),
      ...(position.plainPath && this.#eager ? {} : { path }),
      ...metadataOf(notes, this.#options.trace),
      step,
      source,
      node,
      next,
      completed: [...position.progress.results.keys()],
      interrupts,
      barriers,
      run,
      workflow: this.#options.workflow,
      ...(this.#options.version !== undefined && { stateVersion: this.#options.version }),
      ...this.#dueField(dueOf(position)),
      ...(this.#attributes !== undefined && { attributes: this.#attributes }),
    };
    const options = {
      ...this.#leased(),
      ...(this.#parent === undefined ? {} : { parent: this.#parent }),
      expect: this.#info?.id ?? null,
    };
    // The writes go first: a checkpoint must not list tasks as completed whose results are not stored.
    const copies = id === undefined || inPlace ? [] : this.#copyProgress(thread, position, id);
    const input: PutInput<Values> =
      change !== undefined && this.#eager && !inPlace ? { ...fields, update: change } : { ...fields, state };
    const consume = this.#consume;
    const put =
      consume.length === 0 ? thread.put(input, options) : mailboxOf(thread).put(input, { ...options, consume });
    const [info] = await Promise.all([put, ...copies]);
    return info;
  }

  /** Writes the progress of a position against its new checkpoint. */
  #copyProgress(thread: Thread<Values>, { next, progress }: Position, id: string): Promise<unknown>[] {
    const copies: Promise<unknown>[] = [];
    const copy = (task: string, node: string | null, writes: WritesInput["writes"]): void => {
      copies.push(thread.putWrites(id, { task, node, writes }, this.#leased()));
    };
    for (const { node, task } of next) {
      const result = progress.results.get(task);
      if (result !== undefined) copy(task, node, resultWrites(result.update, result.goto));
      const goto = progress.gotos.get(task);
      if (goto !== undefined) copy(task, node, [gotoWrite(goto)]);
      const stops = progress.asked.get(task);
      if (stops?.some((stop) => isMoreThanOpen(progress, stop))) copy(task, node, [controlWrite("interrupt", stops)]);
    }
    for (const [question, value] of progress.answers) copy(question, null, [answerWrite(value)]);
    return copies;
  }

  /** Returns the field of a put that says when a worker is to take the thread; nothing while that stays as it is. */
  #dueField(due: "now" | number | null): Pick<PutFields, "due"> {
    const { schedule } = this.#options;
    if (schedule === undefined || due === this.#due) return {};
    return { due: due === "now" ? schedule() : due };
  }

  #leased(): { lease?: LeaseToken } {
    const { lease } = this.#options;
    return lease === undefined ? {} : { lease };
  }
}
