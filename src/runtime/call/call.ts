import { storeTime } from "../../api/adapter.ts";
import type { Store } from "../../api/store.ts";
import type { Thread } from "../../api/thread.ts";
import type { CheckpointTuple } from "../../model/checkpoint.ts";
import { traced } from "../../platform/diagnostics.ts";
import { Cancellation } from "../control/cancellation.ts";
import { systemTimer } from "../control/clock.ts";
import { Slots } from "../control/slots.ts";
import { RunError, StorageFailure } from "../errors.ts";
import { writtenVersion } from "../graph/definition.ts";
import type { Values } from "../graph/reducers.ts";
import { BranchFailure, UnknownTarget } from "../graph/routing.ts";
import { CancelRequest, endCancelled } from "../journal/cancel-run.ts";
import { Journal } from "../journal/journal.ts";
import type { Breaks, Position } from "../position/graph-position.ts";
import { openInterrupts } from "../position/step-progress.ts";
import type { RunResult } from "../run/events.ts";
import { LeaseKeeper } from "../run/lease-keeper.ts";
import { ThreadMail } from "../run/mail.ts";
import { runToEnd } from "../run/run-to-end.ts";
import type { EndedGraph, GraphLevel, RunSession } from "../run/session.ts";
import { release } from "../values/capture.ts";
import { CancelWatch } from "./cancel-watch.ts";
import type { CompiledGraph } from "./compiled-graph.ts";
import { RunListener } from "./listener.ts";
import { breaksOf, type Settings, settingsOf, type WalkOptions } from "./options.ts";
import { startAborted, startFailure } from "./start-errors.ts";
import { unmetJoinsOf } from "./unmet-joins.ts";

/** A call of `run`, `start` or `resume`: its settings, its lease and what its run shares. */
export class Call {
  protected readonly compiled: CompiledGraph;
  protected readonly options: WalkOptions;
  protected readonly settings: Settings;
  /** The breakpoints of this call; undefined when it names none. */
  protected readonly breaks: Breaks | undefined;
  protected readonly threadId: string | undefined;
  protected readonly cancellation: Cancellation = new Cancellation();
  protected lease: LeaseKeeper | undefined;
  protected mail: ThreadMail | undefined;
  protected cancelWatch: CancelWatch | undefined;
  protected readonly listener: RunListener;
  /** The trace context of the run that began this one, or of this one. */
  protected trace: string | undefined;

  constructor(compiled: CompiledGraph, threadId: string | undefined, options: WalkOptions) {
    this.compiled = compiled;
    this.threadId = threadId;
    // An option with the value undefined counts as not given, so that it does not hide a default.
    const given = Object.entries(options).filter(([, value]) => value !== undefined);
    this.options = { ...compiled.defaults, ...(Object.fromEntries(given) as WalkOptions) };
    this.settings = settingsOf(this.options);
    this.listener = new RunListener(this.options.on);
    this.breaks = breaksOf(compiled.definition, options);
    if (threadId !== undefined && compiled.store === undefined) {
      throw new TypeError("A thread needs a store to be kept in: compile the graph with { store }.");
    }
    const breaks = this.breaks ?? breaksOf(compiled.definition, compiled.defaults);
    if (threadId === undefined && breaks !== undefined && breaks.before.length + breaks.after.length > 0) {
      throw new TypeError("A breakpoint needs a thread to wait in: run with { thread }.");
    }
  }

  protected async runToEnd(level: GraphLevel, start: Position, resumed: boolean): Promise<RunResult> {
    const { status, position, checkpoint } = await this.ended(level, start, resumed);
    const { state, run } = position;
    const { due } = position.notes;
    const unmetJoins = status === "done" ? unmetJoinsOf(this.compiled.definition, position) : [];
    const result: RunResult = {
      status,
      state: release(state),
      checkpoint: checkpoint ?? level.journal.head,
      interrupts: release(openInterrupts(position)),
      run: run as string,
      ...(status === "interrupted" && due !== undefined && { due }),
      ...(unmetJoins.length > 0 && { unmetJoins }),
      ...(level.session.collected.length > 0 && { errors: level.session.collected }),
    };
    this.listener.tell({ type: "end", result });
    return result;
  }

  /** Runs to the end; a run that is cancelled ends with a checkpoint that says so. */
  protected async ended(level: GraphLevel, start: Position, resumed: boolean): Promise<EndedGraph> {
    try {
      return await runToEnd(level, start, resumed);
    } catch (error) {
      const { reason } = this.cancellation;
      const isCancelled = reason instanceof CancelRequest && error instanceof RunError && error.code === "ABORTED";
      if (!isCancelled || this.lease === undefined) throw error;
      return endCancelled(this.thread(), this.lease.token, reason);
    }
  }

  protected level(run: string, breaks: Breaks, head: CheckpointTuple | undefined): GraphLevel {
    const { definition, store, clock, lease } = this.compiled;
    const threadId = this.threadId;
    const now = clock?.now ?? (threadId === undefined ? Date.now : () => storeTime(this.thread()));
    const open: RunSession["open"] = (namespace) =>
      threadId === undefined ? undefined : (store?.thread(threadId, { namespace }) as Thread<Values>);
    this.mail = this.lease && new ThreadMail(this.thread(), this.lease.token, open);
    this.cancelWatch?.stop();
    this.cancelWatch =
      this.mail && store && new CancelWatch(this.mail, run, this.cancellation, store, this.threadId, lease.ttl);
    const session: RunSession = {
      threadId,
      run,
      ...this.settings,
      cancellation: this.cancellation,
      lease: this.lease,
      mail: this.mail,
      noticeCancel: async () => this.cancelWatch?.notice("glance"),
      open,
      emit: (event) => this.listener.tell(event),
      drained: () => this.listener.ready(),
      now: () => now(),
      timer: clock?.after ?? systemTimer,
      collected: [],
      slots: new Slots(this.settings.concurrency),
      runToEnd,
    };
    const journal = new Journal({
      thread: open([]),
      lease: this.lease?.token,
      durability: this.settings.durability,
      workflow: definition.name,
      version: writtenVersion(definition),
      schedule: now,
      trace: this.trace,
      head: head?.checkpoint,
    });
    return { session, definition, namespace: [], journal, breaks, stopped: new Map() };
  }

  /** Announces the run to its observers, and keeps its trace context for the checkpoints. */
  protected traced(
    facts: { readonly run: string | undefined; readonly resumed: boolean; readonly begunBy?: string | undefined },
    body: () => Promise<RunResult>,
  ): Promise<RunResult> {
    this.trace = facts.begunBy;
    return traced(
      "run",
      () => ({ graph: this.compiled.definition.name, thread: this.threadId, ...facts }),
      (event) => {
        this.trace ??= event?.trace;
        return body();
      },
      ({ status }) => status,
    );
  }

  protected thread(): Thread<Values> {
    return (this.compiled.store as Store<Values>).thread(this.threadId as string);
  }

  /** Holds the thread's lease while the body runs. */
  protected async leased<Result>(body: (thread: Thread<Values>) => Promise<Result>): Promise<Result> {
    const thread = this.thread();
    return this.guarded(async () => {
      const wait = this.options.ifBusy === "wait";
      this.lease = await LeaseKeeper.take(thread, this.compiled.lease, wait, this.cancellation);
      // A run that lost its lease must not go on working: another does.
      const unfollow = this.cancellation.follow(this.lease.lost);
      try {
        return await body(thread);
      } finally {
        unfollow();
        this.cancelWatch?.stop();
        await this.lease.release();
      }
    });
  }

  /** Follows the caller's signal while the body runs, and unwraps the faults that only the runtime knows. */
  protected async guarded<Result>(body: () => Promise<Result>): Promise<Result> {
    const unfollow = this.cancellation.follow(this.options.signal);
    try {
      return await body();
    } catch (error) {
      if (error instanceof StorageFailure) throw error.error;
      if (this.cancellation.cancelled && error instanceof BranchFailure) {
        throw startAborted(this.compiled.definition.name, this.threadId, this.cancellation.reason);
      }
      if (error instanceof UnknownTarget || error instanceof BranchFailure) {
        throw startFailure(this.compiled.definition.name, this.threadId, error);
      }
      throw error;
    } finally {
      unfollow();
    }
  }
}
