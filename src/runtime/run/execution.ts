import { randomUUID } from "node:crypto";
import type { Store } from "../../api/store.ts";
import type { Thread } from "../../api/thread.ts";
import type { CheckpointTuple } from "../../model/checkpoint.ts";
import { StorageFailure } from "../errors.ts";
import type { Values } from "../graph/reducers.ts";
import { checkInput } from "../graph/schema.ts";
import { release } from "../thread/capture.ts";
import { type Breaks, type Position, readPosition } from "../thread/graph-position.ts";
import { Journal } from "../thread/journal.ts";
import { nestedHeads, noteNested } from "../thread/nested.ts";
import { type ResumePoint, resumePoint } from "../thread/resume-run.ts";
import { checkFits, startPosition } from "../thread/start-run.ts";
import { answerWrite, controlWrite, gotoWrite, openInterrupts } from "../thread/step-progress.ts";
import { timeOrderedId } from "../thread/time-ordered-id.ts";
import { Cancellation } from "./cancellation.ts";
import type { CompiledGraph } from "./compiled-graph.ts";
import type { FlowEvent, RunResult } from "./events.ts";
import { LeaseKeeper } from "./lease-keeper.ts";
import {
  breaksOf,
  type ResumeOptions,
  type RunOptions,
  type Settings,
  settingsOf,
  type WalkOptions,
} from "./options.ts";
import { BranchFailure, UnknownTarget } from "./routing.ts";
import { runToEnd } from "./run-to-end.ts";
import type { Level, Session } from "./session.ts";
import { nothingToResume, startFailure, unfinishedRun } from "./start-errors.ts";

const NO_BREAKS: Breaks = { before: [], after: [] };

/** A call of `run` or `resume`: takes the thread's lease, finds the position to start from, and runs to the end. */
export class Execution {
  readonly #compiled: CompiledGraph;
  readonly #options: WalkOptions;
  readonly #settings: Settings;
  /** The breakpoints of this call; undefined when it names none. */
  readonly #breaks: Breaks | undefined;
  readonly #threadId: string | undefined;
  readonly #cancellation = new Cancellation();
  #lease: LeaseKeeper | undefined;

  constructor(compiled: CompiledGraph, threadId: string | undefined, options: WalkOptions) {
    this.#compiled = compiled;
    this.#threadId = threadId;
    // An option with the value undefined counts as not given, so that it does not hide a default.
    const given = Object.entries(options).filter(([, value]) => value !== undefined);
    this.#options = { ...compiled.defaults, ...(Object.fromEntries(given) as WalkOptions) };
    this.#settings = settingsOf(this.#options);
    this.#breaks = breaksOf(compiled.definition, options);
    if (threadId !== undefined && compiled.store === undefined) {
      throw new TypeError("A thread needs a store to be kept in: compile the graph with { store }.");
    }
    const breaks = this.#breaks ?? breaksOf(compiled.definition, compiled.defaults);
    if (threadId === undefined && breaks !== undefined && breaks.before.length + breaks.after.length > 0) {
      throw new TypeError("A breakpoint needs a thread to wait in: run with { thread }.");
    }
  }

  async run(input: unknown, options: RunOptions): Promise<RunResult> {
    const { definition } = this.#compiled;
    const given = input === undefined || input === null ? undefined : input;
    // The input is checked before the thread is touched.
    const checked = given === undefined ? undefined : await checkInput(definition.name, definition.schema, given);
    const start = async (head?: CheckpointTuple): Promise<RunResult> => {
      const values = checked ?? (await checkInput(definition.name, definition.schema, {}));
      return this.#start(values, options.run ?? randomUUID(), head);
    };
    const threadId = this.#threadId;
    if (threadId === undefined) return this.#guarded(() => start());
    return this.#leased(async (thread) => {
      const head = await thread.tuple();
      if (head === undefined) return start();
      const { checkpoint } = head;
      checkFits(definition, threadId, checkpoint.workflow, { next: [] });
      const proceed = async (): Promise<RunResult> =>
        this.#continue(await resumePoint(definition, head, undefined, {}), head);
      const isSameRun = options.run !== undefined && options.run === checkpoint.run;
      if (checkpoint.next.length === 0) return isSameRun ? proceed() : start(head);
      const { ifUnfinished = isSameRun || given === undefined ? "continue" : "fail" } = options;
      if (ifUnfinished === "continue") return proceed();
      if (ifUnfinished === "restart") return start(head);
      throw unfinishedRun(threadId, checkpoint);
    });
  }

  async resume({ value, update, goto, from }: ResumeOptions): Promise<RunResult> {
    const threadId = this.#threadId as string;
    // Acquiring a lease would leave a meta record for a thread that does not exist.
    if (!(await exists(this.#thread()))) throw nothingToResume(threadId);
    return this.#leased(async (thread) => {
      const head = await thread.tuple();
      if (head === undefined) throw nothingToResume(threadId);
      const base = from === undefined ? undefined : await thread.tuple(from);
      if (from !== undefined && base === undefined) throw nothingToResume(threadId, from);
      const request = { value, update: update as Values | undefined, goto };
      return this.#continue(await resumePoint(this.#compiled.definition, head, base, request), head);
    });
  }

  /** Starts a new run at START, on the state that the thread's last run left. */
  async #start(values: Values, run: string, head: CheckpointTuple | undefined): Promise<RunResult> {
    const { definition, defaults } = this.#compiled;
    const breaks = this.#breaks ?? breaksOf(definition, defaults) ?? NO_BREAKS;
    const before = head === undefined ? undefined : readPosition(head, true);
    const level = this.#level(run, breaks, head);
    this.#emit({ type: "start", run, thread: this.#threadId, resumed: false });
    const position = await startPosition({ definition, run, breaks }, values, before);
    await level.journal.commit(position);
    return this.#runToEnd(level, position, false);
  }

  /** Goes on from a stored position, which is committed first if it was changed or if a new breakpoint fires on it. */
  async #continue(point: ResumePoint, head: CheckpointTuple): Promise<RunResult> {
    const { changed, branchedFrom, answered } = point;
    const { definition, defaults } = this.#compiled;
    const run = branchedFrom === undefined ? (point.position.run ?? randomUUID()) : randomUUID();
    const position: Position = { ...point.position, run };
    const breaks = this.#breaks ?? position.notes.breaks ?? breaksOf(definition, defaults) ?? NO_BREAKS;
    const level = this.#level(run, breaks, head);
    const stops = this.#breaks !== undefined && !changed && stopsAt(position, breaks);
    this.#emit({ type: "start", run, thread: this.#threadId, resumed: true });
    if (!changed && !stops) {
      await this.#saveAnswers(level, position, answered);
      return this.#runToEnd(level, position, true);
    }
    const { paused: _, ...notes } = position.notes;
    const start = stops ? pausedAt(position, { ...notes, breaks, paused: true }) : { ...position, notes };
    if (branchedFrom !== undefined) {
      await level.journal.commit(start, { parent: branchedFrom });
      return this.#runToEnd(level, start, !stops);
    }
    const id = timeOrderedId();
    const nested = await nestedHeads(level, start, head.checkpoint.id);
    const noted: Position = { ...start, notes: noteNested(start.notes, id, nested) };
    await level.journal.commit(noted, { id });
    return this.#runToEnd(level, noted, !stops);
  }

  /** Saves the answers of this call; with `sync` they are durable before a task acts on them. */
  async #saveAnswers({ journal }: Level, position: Position, answered: ReadonlyMap<string, unknown>): Promise<void> {
    const save = (task: string, write: { channel: string; value: unknown; index: number }): void =>
      journal.save(position, { task, node: null, writes: [write] }, (error) => new StorageFailure(error));
    for (const [question, value] of answered) save(question, answerWrite(value));
    for (const [task, goto] of answered.size === 0 ? [] : position.progress.gotos) save(task, gotoWrite(goto));
    // Recovery after a crash sees by this write that the run had left the breakpoint.
    if (position.notes.paused) {
      const task = position.next[0]?.task ?? "";
      save(task, controlWrite("scheduled", true));
    }
    if (this.#settings.durability === "sync") await journal.drain();
  }

  async #runToEnd(level: Level, start: Position, resumed: boolean): Promise<RunResult> {
    const { status, position } = await runToEnd(level, start, resumed);
    const { state, run } = position;
    const result: RunResult = {
      status,
      state: release(state),
      checkpoint: level.journal.head,
      interrupts: release(openInterrupts(position)),
      run: run as string,
    };
    this.#emit({ type: "end", result });
    return result;
  }

  #level(run: string, breaks: Breaks, head: CheckpointTuple | undefined): Level {
    const { definition, store } = this.#compiled;
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
      runToEnd,
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
    return (this.#compiled.store as Store<Values>).thread(this.#threadId as string);
  }

  /** Holds the thread's lease while the body runs. */
  async #leased(body: (thread: Thread<Values>) => Promise<RunResult>): Promise<RunResult> {
    const thread = this.#thread();
    return this.#guarded(async () => {
      const wait = this.#options.ifBusy === "wait";
      this.#lease = await LeaseKeeper.take(thread, this.#compiled.lease, wait, this.#cancellation);
      try {
        return await body(thread);
      } finally {
        await this.#lease.release();
      }
    });
  }

  /** Follows the caller's signal while the body runs, and unwraps the faults that only the runtime knows. */
  async #guarded(body: () => Promise<RunResult>): Promise<RunResult> {
    const unfollow = this.#cancellation.follow(this.#options.signal);
    try {
      return await body();
    } catch (error) {
      if (error instanceof StorageFailure) throw error.error;
      if (error instanceof UnknownTarget || error instanceof BranchFailure) {
        throw startFailure(this.#compiled.definition.name, this.#threadId, error);
      }
      throw error;
    } finally {
      unfollow();
    }
  }
}

/** Tells whether a breakpoint of this call is on a task that has not begun and that no breakpoint has stopped yet. */
function stopsAt({ next, notes, progress }: Position, { before }: Breaks): boolean {
  const begun = (task: string): boolean => progress.results.has(task) || progress.asked.has(task);
  return !notes.paused && next.some(({ node, task }) => before.includes(node) && !begun(task));
}

/** Returns a copy of the position that waits at a breakpoint, for a checkpoint of its own. */
function pausedAt(position: Position, notes: Position["notes"]): Position {
  return {
    ...position,
    id: undefined,
    change: {},
    source: "loop",
    interrupts: openInterrupts(position),
    notes,
  };
}

async function exists(thread: Thread<Values>): Promise<boolean> {
  for await (const _ of thread.history({ limit: 1 })) return true;
  return false;
}
