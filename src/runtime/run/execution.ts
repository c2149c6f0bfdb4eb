import { randomUUID } from "node:crypto";
import type { Store } from "../../api/store.ts";
import type { Thread } from "../../api/thread.ts";
import { ThreadmarkError } from "../../errors.ts";
import type { CheckpointTuple } from "../../model/checkpoint.ts";
import { messageOf, RunError, StorageFailure } from "../errors.ts";
import type { Definition } from "../graph/definition.ts";
import type { Values } from "../graph/reducers.ts";
import { checkInput } from "../graph/schema.ts";
import { release } from "../thread/capture.ts";
import { timeOrderedId } from "../thread/identity.ts";
import { Journal } from "../thread/journal.ts";
import { nestedHeads, noteNested } from "../thread/nested.ts";
import { ANSWER, type Breaks, GOTO, openInterrupts, type Position, readPosition } from "../thread/position.ts";
import { type Reopened, reopen } from "../thread/resume-run.ts";
import { begin, checkFits } from "../thread/start-run.ts";
import { Cancellation } from "./cancellation.ts";
import type { FlowEvent, RunResult } from "./events.ts";
import { LeaseKeeper, type LeaseOptions } from "./lease-keeper.ts";
import {
  breaksOf,
  type ResumeOptions,
  type RunOptions,
  type Settings,
  settingsOf,
  type WalkOptions,
} from "./options.ts";
import { BranchFailure, UnknownTarget } from "./routing.ts";
import type { Level, Session } from "./session.ts";
import { walk } from "./walk.ts";

const NO_BREAKS: Breaks = { before: [], after: [] };

/** What a flow was compiled with. */
export interface Frame {
  readonly definition: Definition;
  readonly store: Store<Values> | undefined;
  readonly lease: LeaseOptions;
  readonly defaults: WalkOptions;
}

/** One call of `run` or `resume`: it takes the thread's lease, finds where to start, and walks from there. */
export class Execution {
  readonly #frame: Frame;
  readonly #options: WalkOptions;
  readonly #settings: Settings;
  readonly #breaks: Breaks | undefined;
  readonly #threadId: string | undefined;
  readonly #cancellation = new Cancellation();
  #lease: LeaseKeeper | undefined;

  constructor(frame: Frame, threadId: string | undefined, options: WalkOptions) {
    this.#frame = frame;
    this.#threadId = threadId;
    // An option that is there but undefined is not given.
    const given = Object.entries(options).filter(([, value]) => value !== undefined);
    this.#options = { ...frame.defaults, ...(Object.fromEntries(given) as WalkOptions) };
    this.#settings = settingsOf(this.#options);
    this.#breaks = breaksOf(frame.definition, options);
    if (threadId !== undefined && frame.store === undefined) {
      throw new TypeError("A thread needs a store to be kept in: compile the graph with { store }.");
    }
    const breaks = this.#breaks ?? breaksOf(frame.definition, frame.defaults);
    if (threadId === undefined && breaks !== undefined && breaks.before.length + breaks.after.length > 0) {
      throw new TypeError("A breakpoint needs a thread to wait in: run with { thread }.");
    }
  }

  async run(input: unknown, options: RunOptions): Promise<RunResult> {
    const { definition } = this.#frame;
    const given = input === undefined || input === null ? undefined : input;
    // The input is judged before the thread is touched.
    const checked = given === undefined ? undefined : await checkInput(definition.name, definition.schema, given);
    const values = async (): Promise<Values> => checked ?? (await checkInput(definition.name, definition.schema, {}));
    if (this.#threadId === undefined) {
      return this.#guarded(async () => this.#start(await values(), options.run ?? randomUUID(), undefined));
    }
    return this.#leased(async (thread) => {
      const head = await thread.tuple();
      if (head === undefined) return this.#start(await values(), options.run ?? randomUUID(), undefined);
      const { checkpoint } = head;
      checkFits(definition, this.#threadId, checkpoint.workflow, { next: [] });
      const again = options.run !== undefined && options.run === checkpoint.run;
      if (checkpoint.next.length === 0) {
        if (again) return this.#continue(await reopen(definition, head, undefined, {}), head);
        return this.#start(await values(), options.run ?? randomUUID(), head);
      }
      const { ifUnfinished = again || given === undefined ? "continue" : "fail" } = options;
      if (ifUnfinished === "continue") return this.#continue(await reopen(definition, head, undefined, {}), head);
      if (ifUnfinished === "restart") return this.#start(await values(), options.run ?? randomUUID(), head);
      throw this.#unfinished(head);
    });
  }

  async resume({ value, update, goto, from }: ResumeOptions): Promise<RunResult> {
    const { definition } = this.#frame;
    const threadId = this.#threadId as string;
    // A lease would leave a trace of a thread that never was.
    if (!(await exists(this.#thread()))) throw missing(threadId, undefined);
    return this.#leased(async (thread) => {
      const head = await thread.tuple();
      if (head === undefined) throw missing(threadId, undefined);
      const base = from === undefined ? undefined : await thread.tuple(from);
      if (from !== undefined && base === undefined) throw missing(threadId, from);
      const wish = { value, update: update as Values | undefined, goto };
      return this.#continue(await reopen(definition, head, base, wish), head);
    });
  }

  async #start(values: Values, run: string, head: CheckpointTuple | undefined): Promise<RunResult> {
    const { definition } = this.#frame;
    const breaks = this.#breaks ?? breaksOf(definition, this.#frame.defaults) ?? NO_BREAKS;
    const before = head === undefined ? undefined : readPosition(head, true);
    const level = this.#level(run, breaks, head);
    this.#emit({ type: "start", run, thread: this.#threadId, resumed: false });
    const position = await begin({ definition, run, breaks }, values, before);
    await level.journal.commit(position);
    return this.#walk(level, position, false);
  }

  async #continue(
    { position: read, changed, branchedFrom, answered }: Reopened,
    head: CheckpointTuple,
  ): Promise<RunResult> {
    const run = branchedFrom === undefined ? (read.run ?? randomUUID()) : randomUUID();
    const breaks =
      this.#breaks ?? read.notes.breaks ?? breaksOf(this.#frame.definition, this.#frame.defaults) ?? NO_BREAKS;
    const level = this.#level(run, breaks, head);
    const stops = this.#breaks !== undefined && !changed && this.#stopsAt(read, breaks);
    this.#emit({ type: "start", run, thread: this.#threadId, resumed: true });
    const here: Position = { ...read, run };
    if (!changed && !stops) {
      await this.#saveAnswers(level, here, answered);
      return this.#walk(level, here, true);
    }
    const { paused: _, ...notes } = read.notes;
    const position: Position = stops
      ? {
          ...here,
          id: undefined,
          change: {},
          source: "loop",
          interrupts: openInterrupts(here),
          notes: { ...notes, breaks, paused: true },
        }
      : { ...here, notes };
    if (branchedFrom === undefined) {
      const id = timeOrderedId();
      const at = await nestedHeads(level, position, head.checkpoint.id);
      const along: Position = { ...position, notes: noteNested(position.notes, id, at) };
      await level.journal.commit(along, { id });
      return this.#walk(level, along, !stops);
    }
    await level.journal.commit(position, { parent: branchedFrom });
    return this.#walk(level, position, !stops);
  }

  /** Whether a breakpoint that this call brings is on something about to run that no breakpoint has stopped yet. */
  #stopsAt({ next, notes, progress }: Position, { before }: Breaks): boolean {
    const begun = (task: string): boolean => progress.results.has(task) || progress.asked.has(task);
    return !notes.paused && next.some(({ node, task }) => before.includes(node) && !begun(task));
  }

  /** With `sync`, an answer is durable before anything acts on it. */
  async #saveAnswers({ journal }: Level, position: Position, answered: ReadonlyMap<string, unknown>): Promise<void> {
    const save = (task: string, channel: string, value: unknown, index: number): void =>
      journal.save(
        position,
        { task, node: null, writes: [{ channel, value, index }] },
        (error) => new StorageFailure(error),
      );
    for (const [question, value] of answered) save(question, "answer", value, ANSWER);
    for (const [task, goto] of answered.size === 0 ? [] : position.progress.gotos) save(task, GOTO, goto, ANSWER);
    // Whoever recovers this run after a crash sees that it had left the breakpoint.
    if (position.notes.paused) save(position.next[0]?.task ?? "", "resumed", true, RESUMED);
    if (this.#settings.durability === "sync") await journal.drain();
  }

  async #walk(level: Level, start: Position, resumed: boolean): Promise<RunResult> {
    const { status, position } = await walk(level, start, resumed);
    const result = this.#result(status, position, level.journal.head);
    this.#emit({ type: "end", result });
    return result;
  }

  #result(status: RunResult["status"], position: Position, checkpoint: RunResult["checkpoint"]): RunResult {
    const { state, run } = position;
    const interrupts = release(openInterrupts(position));
    return { status, state: release(state), checkpoint, interrupts, run: run as string };
  }

  #level(run: string, breaks: Breaks, head: CheckpointTuple | undefined): Level {
    const { definition, store } = this.#frame;
    const threadId = this.#threadId;
    const open: Session["open"] = (namespace) =>
      threadId === undefined ? undefined : (store?.thread(threadId, { namespace }) as Thread<Values>);
    const session: Session = {
      threadId,
      run,
      ...this.#settings,
      cancellation: this.#cancellation,
      lease: this.#lease,
      open,
      emit: (event) => this.#emit(event),
      walk,
    };
    const journal = new Journal({
      thread: open([]),
      lease: this.#lease?.token,
      durability: this.#settings.durability,
      workflow: definition.name,
      head: head?.checkpoint,
    });
    return { session, definition, namespace: [], journal, breaks, stopped: new Map() };
  }

  #emit(event: FlowEvent): void {
    this.#options.on?.(event);
  }

  #thread(): Thread<Values> {
    return (this.#frame.store as Store<Values>).thread(this.#threadId as string);
  }

  async #leased(body: (thread: Thread<Values>) => Promise<RunResult>): Promise<RunResult> {
    const thread = this.#thread();
    return this.#guarded(async () => {
      const wait = this.#options.ifBusy === "wait";
      this.#lease = await LeaseKeeper.take(thread, this.#frame.lease, wait, this.#cancellation);
      try {
        return await body(thread);
      } finally {
        await this.#lease.release();
      }
    });
  }

  /** Follows the signal while the body runs, and throws what the store threw as it was. */
  async #guarded(body: () => Promise<RunResult>): Promise<RunResult> {
    const part = this.#cancellation.follow(this.#options.signal);
    try {
      return await body();
    } catch (error) {
      if (error instanceof StorageFailure) throw error.error;
      if (error instanceof UnknownTarget || error instanceof BranchFailure) throw this.#entryError(error);
      throw error;
    } finally {
      part();
    }
  }

  #entryError(error: UnknownTarget | BranchFailure): RunError {
    const code = error instanceof UnknownTarget ? "UNKNOWN_NODE" : "NODE_FAILED";
    const cause = error instanceof UnknownTarget ? error : error.cause;
    const message = `Workflow "${this.#frame.definition.name}" could not start: ${messageOf(error)}`;
    return new RunError(code, message, { thread: this.#threadId, node: error.from, cause });
  }

  #unfinished({ checkpoint }: CheckpointTuple): RunError {
    const { next, step, interrupts } = checkpoint;
    const what = interrupts.length > 0 ? `waits for ${interrupts.length} answers` : `has ${next.length} tasks to run`;
    return new RunError(
      "UNFINISHED",
      `The last run of thread "${this.#threadId}" ${what} after step ${step}. Go on with resume(), or run with ifUnfinished: "restart" to drop that, or "continue" to drop the input.`,
      { thread: this.#threadId, step },
    );
  }
}

async function exists(thread: Thread<Values>): Promise<boolean> {
  for await (const _ of thread.history({ limit: 1 })) return true;
  return false;
}

function missing(thread: string, checkpoint: string | undefined): ThreadmarkError {
  if (checkpoint === undefined) {
    return new ThreadmarkError("NOT_FOUND", `There is no thread "${thread}" to resume. Start it with run().`, {
      thread,
    });
  }
  const message = `Thread "${thread}" has no checkpoint "${checkpoint}" to resume from.`;
  return new ThreadmarkError("NOT_FOUND", message, { thread, checkpoint });
}

/** The index of the write that says a breakpoint was left: LangGraph's "scheduled". */
export const RESUMED = -2;
