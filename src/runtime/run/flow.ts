import type { Store } from "../../api/store.ts";
import type { Thread } from "../../api/thread.ts";
import type { Activation, Checkpoint, CheckpointInfo, CheckpointTuple, Interrupt } from "../../model/checkpoint.ts";
import { controlIndexes } from "../../model/control-writes.ts";
import type { HistoryOptions } from "../../model/options.ts";
import { type Status, statusOf } from "../../model/status.ts";
import type { Definition } from "../graph/definition.ts";
import { mermaid } from "../graph/mermaid.ts";
import type { Values } from "../graph/reducers.ts";
import { edit, type UpdateOptions } from "../thread/edit.ts";
import { tasksOf } from "../thread/graph-position.ts";
import { type Recovered, type RecoverOptions, recover } from "../thread/recovery.ts";
import { openInterrupts, readProgress } from "../thread/step-progress.ts";
import type { CompiledGraph } from "./compiled-graph.ts";
import type { FlowEvent, RunResult } from "./events.ts";
import { Execution } from "./execution.ts";
import type { ResumeOptions, RunOptions, WalkOptions } from "./options.ts";
import { streamed } from "./stream.ts";

/** The state of a thread as its workflow sees it. */
export interface FlowState<State> {
  /** `done`: no tasks are left; `waiting`: for an answer; `failed`: see `errors`; `paused`: there are tasks to run. */
  readonly status: Exclude<Status, "running">;
  readonly state: State;
  readonly checkpoint: Checkpoint<State>;
  /** The tasks of the step that have not finished. */
  readonly next: readonly Activation[];
  readonly interrupts: readonly Interrupt[];
  readonly errors: readonly { readonly node: string | null; readonly task: string; readonly message: string }[];
}

/** A compiled graph: runs, resumes, shows and changes threads. */
export class Flow<State extends object> {
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
  async run(input?: Partial<State> | null, options: RunOptions<State> = {}): Promise<RunResult<State>> {
    const execution = new Execution(this.#compiled, options.thread, options as RunOptions);
    return (await execution.run(input, options as RunOptions)) as RunResult<State>;
  }

  /**
   * Continues an unfinished run. Finished tasks are not run again.
   *
   * @example
   * await flow.resume({ thread: "user-42", value: "yes" });
   */
  async resume(options: ResumeOptions<State>): Promise<RunResult<State>> {
    if (typeof options?.thread !== "string") throw new TypeError("resume needs a thread: resume({ thread }).");
    const execution = new Execution(this.#compiled, options.thread, options as ResumeOptions);
    return (await execution.resume(options as ResumeOptions)) as RunResult<State>;
  }

  /** Runs as {@link run} does, and yields the events. Leaving the loop early aborts the run. */
  stream(
    input?: Partial<State> | null,
    options: RunOptions<State> = {},
  ): AsyncGenerator<FlowEvent<State>, void, undefined> {
    return streamed(options, (streaming) => this.run(input, { ...options, ...streaming }));
  }

  /** Resumes as {@link resume} does, and yields the events. Leaving the loop early aborts the run. */
  streamResume(options: ResumeOptions<State>): AsyncGenerator<FlowEvent<State>, void, undefined> {
    return streamed(options, (streaming) => this.resume({ ...options, ...streaming }));
  }

  /** Returns the state of a thread, now or at an older checkpoint; undefined when there is no such thread or checkpoint. */
  async state(thread: string, checkpoint?: string): Promise<FlowState<State> | undefined> {
    const handle = this.#thread(thread);
    const tuple = await (checkpoint === undefined ? handle.tuple() : handle.tuple(checkpoint));
    return tuple && stateOf(tuple as CheckpointTuple<State>);
  }

  /** Yields the thread's checkpoints, newest first: their metadata, or with `states: true` whole checkpoints. */
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
  async update(thread: string, values: Partial<State>, options: UpdateOptions = {}): Promise<CheckpointInfo> {
    const open = (namespace: readonly string[]): Thread<Values> => this.#thread(thread, namespace);
    return edit(this.#compiled.definition, thread, open, values as Values, options);
  }

  /** Resumes every unfinished run of this workflow whose holder is gone, or whose interrupts have been answered. */
  async recover(options: RecoverOptions<State> = {}): Promise<readonly Recovered<State>[]> {
    return recover(this.#store(), this.name, options, (thread, walking: WalkOptions<State>) =>
      this.resume({ ...walking, thread }),
    );
  }

  /** Returns the graph as Mermaid text. */
  mermaid(): string {
    return mermaid(this.#compiled.definition);
  }

  #store(): Store<Values> {
    const { store } = this.#compiled;
    if (store === undefined) throw new TypeError("This needs a store: compile the graph with { store }.");
    return store;
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
    .filter(({ index }) => index === controlIndexes.error)
    .map(({ node, task, value }) => ({
      node,
      task,
      message: String((value as { message?: unknown })?.message ?? value),
    }));
  const next = tasks.filter(({ task }) => !progress.results.has(task));
  const facts = { failed: errors.length > 0, waiting: interrupts.length, pending: checkpoint.next.length };
  const status = statusOf({ ...facts, leased: false }) as Exclude<Status, "running">;
  return { status, state: checkpoint.state, checkpoint, next, interrupts, errors };
}
