import { storeTime } from "../../api/adapter.ts";
import type { Store } from "../../api/store.ts";
import type { Thread } from "../../api/thread.ts";
import type { Activation, Checkpoint, CheckpointInfo, CheckpointTuple } from "../../model/checkpoint.ts";
import { controlIndexes } from "../../model/control-writes.ts";
import type { HistoryOptions } from "../../model/interface/options.ts";
import { endOf, type Status, statusOf } from "../../model/status.ts";
import type { CompiledGraph } from "../call/compiled-graph.ts";
import { Execution } from "../call/execution.ts";
import type { ResumeOptions, RunOptions, Started, StartOptions, WalkOptions } from "../call/options.ts";
import { ring } from "../control/bell.ts";
import { systemTimer } from "../control/clock.ts";
import type { Definition } from "../graph/definition.ts";
import type { AnyNodes, Declared, FlowTypes, NodeName } from "../graph/flow-types.ts";
import { mermaid } from "../graph/mermaid.ts";
import type { StateUpdate } from "../graph/overwrite.ts";
import type { Values } from "../graph/reducers.ts";
import { headOf } from "../journal/late-answers.ts";
import { edit, type UpdateOptions } from "../outside/edit.ts";
import { type FollowOptions, follow, type StoredEvent } from "../outside/follow.ts";
import { type ForkFlowOptions, lastAfter } from "../outside/fork-after.ts";
import {
  answer,
  type Cancelled,
  type CancelOptions,
  cancel,
  type SignalOptions,
  signal,
} from "../outside/from-outside.ts";
import { tasksOf } from "../position/graph-position.ts";
import { openInterrupts, readProgress } from "../position/step-progress.ts";
import type { FlowEvent, Question, RunResult } from "../run/events.ts";
import type { LeaseOptions } from "../run/lease-keeper.ts";
import { type Recovered, type RecoverOptions, recover } from "../work/recovery.ts";
import { checkWorkerOptions, Worker, type WorkerOptions } from "../work/worker.ts";
import type { Input } from "./graph-options.ts";
import { checkKnown } from "./known-options.ts";
import { type StreamOptions, streamed } from "./stream.ts";

/** The state of a thread as its workflow sees it. */
export interface FlowState<State, Types extends FlowTypes = FlowTypes> {
  /** `done`: no tasks are left; `waiting`: for an answer; `failed`, `cancelled`: see `errors`; `paused`: there are tasks to run. */
  readonly status: Exclude<Status, "running">;
  readonly state: State;
  readonly checkpoint: Checkpoint<State>;
  /** The tasks of the step that have not finished. */
  readonly next: readonly Activation[];
  readonly interrupts: readonly Question<Types>[];
  readonly errors: readonly { readonly node: string | null; readonly task: string; readonly message: string }[];
}

/** A compiled graph: runs, resumes, shows and changes threads. */
export class Flow<State extends object, Types extends FlowTypes = FlowTypes, Nodes extends object = AnyNodes> {
  readonly #compiled: CompiledGraph;

  constructor(compiled: CompiledGraph) {
    this.#compiled = compiled;
  }

  /** Returns the workflow's name. */
  get name(): string {
    return this.#compiled.definition.name;
  }

  /** Returns the graph as data, for nesting it in another. */
  get definition(): Definition {
    return this.#compiled.definition;
  }

  /**
   * Starts a run on a thread: reduces the input into the state, then follows the edges of START. Without an input,
   * continues an unfinished run.
   *
   * @example
   * const { status, state } = await flow.run({ question }, { thread: "user-42" });
   */
  async run(
    input?: Input<State, Types> | null,
    options: RunOptions<State, NodeName<Nodes>, Types> = {},
  ): Promise<RunResult<State, Types>> {
    checkKnown("run", options);
    return this.#run(input, options as RunOptions);
  }

  /**
   * Continues an unfinished run. Finished tasks are not run again.
   *
   * @example
   * await flow.resume({ thread: "user-42", value: "yes" });
   */
  async resume(options: ResumeOptions<State, Nodes, Types>): Promise<RunResult<State, Types>> {
    checkKnown("resume", options);
    return this.#resume(options as ResumeOptions);
  }

  /**
   * Runs as {@link run} does, and yields the events. The run goes on if the loop is left early, unless `onLeave` is "abort".
   *
   * @example
   * for await (const event of flow.stream(input, { thread: "user-42" })) console.log(event.type);
   */
  stream(
    input?: Input<State, Types> | null,
    options: RunOptions<State, NodeName<Nodes>, Types> & StreamOptions = {},
  ): AsyncGenerator<FlowEvent<State, Types>, void, undefined> {
    return streamed(options, async (streaming) => {
      checkKnown("stream", options);
      return this.#run(input, { ...options, ...streaming } as RunOptions);
    });
  }

  /**
   * Resumes as {@link resume} does, and yields the events, as {@link stream} does.
   *
   * @example
   * for await (const event of flow.streamResume({ thread: "user-42", value: true })) console.log(event.type);
   */
  streamResume(
    options: ResumeOptions<State, Nodes, Types> & StreamOptions,
  ): AsyncGenerator<FlowEvent<State, Types>, void, undefined> {
    return streamed(options, async (streaming) => {
      checkKnown("streamResume", options);
      return this.#resume({ ...options, ...streaming } as ResumeOptions);
    });
  }

  /**
   * Returns the state of a thread, now or at an older checkpoint; undefined when there is no such thread or checkpoint.
   *
   * @example
   * const { state, status, interrupts } = (await flow.state("user-42")) ?? {};
   */
  async state(thread: string, checkpoint?: string): Promise<FlowState<State, Types> | undefined> {
    const handle = this.#thread(thread);
    const tuple = await (checkpoint === undefined ? headOf(handle) : handle.tuple(checkpoint));
    return tuple && (stateOf(tuple as CheckpointTuple<State>) as FlowState<State, Types>);
  }

  /**
   * Yields the thread's checkpoints, newest first: their metadata, or with `states: true` whole checkpoints.
   *
   * @example
   * for await (const { step, node } of flow.history("user-42", { limit: 10 })) console.log(step, node);
   */
  history(thread: string, options: HistoryOptions & { readonly states: true }): AsyncGenerator<Checkpoint<State>>;
  history(thread: string, options?: HistoryOptions): AsyncGenerator<CheckpointInfo>;
  history(thread: string, options: HistoryOptions = {}): AsyncGenerator<CheckpointInfo | Checkpoint<State>> {
    return this.#thread(thread).history(options) as AsyncGenerator<CheckpointInfo | Checkpoint<State>>;
  }

  /**
   * Changes the state by hand, through the reducers, in a checkpoint of source "update". Pending tasks stay pending.
   *
   * @example
   * await flow.update("user-42", { plan: "another" }, { as: "plan" });
   */
  async update(
    thread: string,
    values: StateUpdate<State>,
    options: UpdateOptions<NodeName<Nodes>> = {},
  ): Promise<CheckpointInfo> {
    checkKnown("update", options);
    const open = (namespace: readonly string[]): Thread<Values> => this.#thread(thread, namespace);
    return edit(this.#compiled.definition, thread, open, values as Values, options);
  }

  /**
   * Resumes every unfinished run of this workflow whose holder is gone, or whose interrupts have been answered.
   *
   * @example
   * const recovered = await flow.recover({ concurrency: 4 });
   */
  async recover(
    options: RecoverOptions<State, NodeName<Nodes>, Types> = {},
  ): Promise<readonly Recovered<State, Types>[]> {
    checkKnown("recover", options);
    return recover<State>(
      this.#store(),
      this.name,
      options,
      () => this.#now(),
      async (thread, walking, judge) => {
        const execution = new Execution(this.#compiled, thread, walking as WalkOptions);
        return (await execution.resume({ thread }, { judge })) as RunResult<State> | undefined;
      },
    );
  }

  /**
   * Starts a run without running it: the input goes through the schema, the reducers and START, and is durable when this
   * resolves. A {@link worker} of any process takes it. A run that was started before under the same id is not started again.
   *
   * @example
   * await flow.start({ question }, { thread: "user-42", run: request.id });
   */
  async start(input: Input<State, Types> | null | undefined, options: StartOptions): Promise<Started> {
    if (typeof options?.thread !== "string") throw new TypeError("start needs a thread: start(input, { thread }).");
    checkKnown("start", options);
    const started = await new Execution(this.#compiled, options.thread, {}).start(input, options);
    ring(this.#store(), options.thread);
    return started;
  }

  /**
   * Begins to take runs of this workflow, of any process, until it is stopped: started ones, those whose worker died, and
   * those that were answered, signalled or are due.
   *
   * @example
   * const worker = flow.worker({ concurrency: 8 });
   * process.once("SIGTERM", () => worker.stop());
   */
  worker(options: WorkerOptions<State, NodeName<Nodes>, Types> = {}): Worker<State> {
    checkKnown("worker", options);
    checkWorkerOptions(options as WorkerOptions);
    const { clock } = this.#compiled;
    return new Worker<State>(
      {
        store: this.#store(),
        workflow: this.name,
        now: () => this.#now(),
        storeNow: () => storeTime(this.#thread("clock")),
        timer: clock?.after ?? systemTimer,
        resume: async (thread, walking, taking) => {
          const execution = new Execution(this.#compiled, thread, walking as WalkOptions);
          return (await execution.resume({ thread }, taking)) as RunResult<State> | undefined;
        },
      },
      options,
    );
  }

  /**
   * Answers an open question from any process, whoever runs the thread. The answer is durable when this resolves, and a worker
   * (or `recover`, or `resume`) goes on with it. A question that is not open is `NO_INTERRUPT`.
   *
   * @example
   * await flow.answer("user-42", question.id, { ok: true });
   */
  async answer(thread: string, question: string, value: Declared<Types, "answer">): Promise<void> {
    await answer(this.#outside(), thread, question, value);
  }

  /**
   * Sends a signal for `ctx.waitFor`, from any process. It is kept until a task waits for it, even if the thread has not begun.
   * A signal whose `id` the thread knows is ignored: then `stored` is false.
   *
   * @example
   * await flow.signal("order-7", "paid", { amount: 12 }, { id: payment.id });
   */
  async signal(
    thread: string,
    name: string,
    payload?: unknown,
    options: SignalOptions = {},
  ): Promise<{ readonly stored: boolean }> {
    checkKnown("signal", options);
    return signal(this.#store(), thread, name, payload, options);
  }

  /**
   * Cancels the unfinished run of a thread, from any process: its `ctx.signal` is aborted, and its status is `cancelled`. If the
   * run ends first, that stands, and `cancelled` is false.
   *
   * @example
   * const { cancelled, status } = await flow.cancel("user-42", { reason: "the user left" });
   */
  async cancel(thread: string, options: CancelOptions = {}): Promise<Cancelled> {
    checkKnown("cancel", options);
    return cancel(this.#outside(), thread, options);
  }

  /**
   * Yields the events of a run from the store, in any process: its checkpoints and the data emitted with `keep`, those of the
   * past and then those to come, until the run has ended. With the cursor of the last event seen, exactly the rest.
   *
   * @example
   * for await (const event of flow.follow("user-42", { after: request.headers["last-event-id"] })) send(event.cursor, event);
   */
  follow(thread: string, options: FollowOptions = {}): AsyncGenerator<StoredEvent<State, Types>, void, undefined> {
    checkKnown("follow", options);
    return follow<State>(this.#store(), thread, options) as AsyncGenerator<StoredEvent<State, Types>, void, undefined>;
  }

  /**
   * Makes a new thread from a checkpoint of another, to try something else: with `at` it goes on with the tasks of that checkpoint;
   * with `after`, the edges of that node are followed again on the updated state. Nothing runs until the fork is resumed.
   *
   * @example
   * const fork = await flow.fork("user-42", { after: "plan", update: { plan: "another" } });
   * await flow.resume({ thread: fork });
   */
  async fork(thread: string, forkOptions: ForkFlowOptions<State, NodeName<Nodes>>): Promise<string> {
    checkKnown("fork", forkOptions);
    const { into, update = {}, at, after } = forkOptions;
    const source = this.#thread(thread);
    const place = after === undefined ? at : await lastAfter(source, after);
    const options = { ...(place !== undefined && { at: place }), ...(into !== undefined && { into }) };
    const { id } = await source.fork(options);
    if (after !== undefined || Object.keys(update).length > 0) {
      await this.update(id, update, after === undefined ? {} : { as: after, routesAgain: true });
    }
    return id;
  }

  /**
   * Returns the graph as Mermaid text.
   *
   * @example
   * console.log(flow.mermaid()); // graph TD; …
   */
  mermaid(): string {
    return mermaid(this.#compiled.definition);
  }

  async #run(input: unknown, options: RunOptions): Promise<RunResult<State, Types>> {
    const execution = new Execution(this.#compiled, options.thread, options);
    return (await execution.run(input, options)) as RunResult<State, Types>;
  }

  async #resume(options: ResumeOptions): Promise<RunResult<State, Types>> {
    if (typeof options.thread !== "string") throw new TypeError("resume needs a thread: resume({ thread }).");
    const execution = new Execution(this.#compiled, options.thread, options);
    return (await execution.resume(options)) as RunResult<State, Types>;
  }

  #outside(): { definition: Definition; store: Store<Values>; lease: LeaseOptions } {
    const { definition, lease } = this.#compiled;
    return { definition, store: this.#store(), lease };
  }

  #store(): Store<Values> {
    const { store } = this.#compiled;
    if (store === undefined) throw new TypeError("This needs a store: compile the graph with { store }.");
    return store;
  }

  /** Returns the time that sleeps and time limits go by. */
  #now(): number {
    const { clock } = this.#compiled;
    return clock === undefined ? storeTime(this.#thread("clock")) : clock.now();
  }

  #thread(id: string, namespace: readonly string[] = []): Thread<Values> {
    return this.#store().thread(id, { namespace });
  }
}

function stateOf<State>(tuple: CheckpointTuple<State>): FlowState<State> {
  const { checkpoint, writes } = tuple;
  const tasks = tasksOf(checkpoint);
  const progress = readProgress(tuple, tasks, false);
  const interrupts = openInterrupts({ next: tasks, progress });
  const errors = writes
    .filter(({ index, value }) => index === controlIndexes.error && value !== null)
    .map(({ node, task, value }) => ({
      node,
      task,
      message: String((value as { message?: unknown })?.message ?? value),
    }));
  const next = tasks.filter(({ task }) => !progress.results.has(task));
  const end = endOf(writes.filter(({ index }) => index === controlIndexes.error).map(({ value }) => value));
  const facts = { end, waiting: interrupts.length, pending: checkpoint.next.length };
  const status = statusOf({ ...facts, leased: false }) as Exclude<Status, "running">;
  return { status, state: checkpoint.state, checkpoint, next, interrupts, errors };
}
