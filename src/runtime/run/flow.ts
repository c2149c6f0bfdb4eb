import type { Store } from "../../api/store.ts";
import type { Thread } from "../../api/thread.ts";
import type { HistoryOptions } from "../../model/arguments.ts";
import type { Activation, Checkpoint, CheckpointInfo, CheckpointTuple, Interrupt } from "../../model/checkpoint.ts";
import type { Definition } from "../graph/definition.ts";
import { mermaid } from "../graph/mermaid.ts";
import type { Values } from "../graph/reducers.ts";
import { edit, type UpdateOptions } from "../thread/edit.ts";
import { ERROR, openInterrupts, readProgress, tasksOf } from "../thread/position.ts";
import { type Recovered, type RecoverOptions, recover } from "../thread/recovery.ts";
import type { FlowEvent, RunResult } from "./events.ts";
import { Execution, type Frame } from "./execution.ts";
import type { ResumeOptions, RunOptions, WalkOptions } from "./options.ts";
import { streamed } from "./stream.ts";

/** Where a thread stands. */
export interface FlowState<State> {
  /** `done`: nothing next; `waiting`: for an answer; `failed`: see `errors`; `paused`: there is more to run. */
  readonly status: "done" | "waiting" | "failed" | "paused";
  readonly state: State;
  readonly checkpoint: Checkpoint<State>;
  /** What is still to run of the step. */
  readonly next: readonly Activation[];
  readonly interrupts: readonly Interrupt[];
  readonly errors: readonly { readonly node: string | null; readonly task: string; readonly message: string }[];
}

/** A compiled graph: runs threads, resumes them, and shows and changes where they stand. */
export class Flow<State extends object> {
  readonly #frame: Frame;

  constructor(frame: Frame) {
    this.#frame = frame;
  }

  /** The workflow's name. */
  get name(): string {
    return this.#frame.definition.name;
  }

  /** The graph as data, for nesting it in another. */
  get definition(): Definition {
    return this.#frame.definition;
  }

  /**
   * Starts a run on a thread: the input goes through the reducers into the state, then START's edges are followed.
   * Without an input, an unfinished run is continued.
   *
   * @example
   * const { status, state } = await flow.run({ question }, { thread: "user-42" });
   */
  async run(input?: Partial<State> | null, options: RunOptions<State> = {}): Promise<RunResult<State>> {
    const execution = new Execution(this.#frame, options.thread, options as RunOptions);
    return (await execution.run(input, options as RunOptions)) as RunResult<State>;
  }

  /**
   * Goes on with an unfinished run: what had finished is not run again.
   *
   * @example
   * await flow.resume({ thread: "user-42", value: "yes" });
   */
  async resume(options: ResumeOptions<State>): Promise<RunResult<State>> {
    if (typeof options?.thread !== "string") throw new TypeError("resume needs a thread: resume({ thread }).");
    const execution = new Execution(this.#frame, options.thread, options as ResumeOptions);
    return (await execution.resume(options as ResumeOptions)) as RunResult<State>;
  }

  /** {@link run}, as events. Leaving the loop early aborts the run. */
  stream(
    input?: Partial<State> | null,
    options: RunOptions<State> = {},
  ): AsyncGenerator<FlowEvent<State>, void, undefined> {
    return streamed(options, (streaming) => this.run(input, { ...options, ...streaming }));
  }

  /** {@link resume}, as events. */
  streamResume(options: ResumeOptions<State>): AsyncGenerator<FlowEvent<State>, void, undefined> {
    return streamed(options, (streaming) => this.resume({ ...options, ...streaming }));
  }

  /** Where a thread stands, or stood at an older checkpoint; undefined when there is no such thread or checkpoint. */
  async state(thread: string, checkpoint?: string): Promise<FlowState<State> | undefined> {
    const handle = this.#thread(thread);
    const tuple = await (checkpoint === undefined ? handle.tuple() : handle.tuple(checkpoint));
    return tuple && stateOf(tuple as CheckpointTuple<State>);
  }

  /** The thread's checkpoints, newest first; whole ones with `states: true`. */
  history(thread: string, options: HistoryOptions & { readonly states: true }): AsyncGenerator<Checkpoint<State>>;
  history(thread: string, options?: HistoryOptions): AsyncGenerator<CheckpointInfo>;
  history(thread: string, options: HistoryOptions = {}): AsyncGenerator<CheckpointInfo | Checkpoint<State>> {
    return this.#thread(thread).history(options) as AsyncGenerator<CheckpointInfo | Checkpoint<State>>;
  }

  /**
   * Changes the state by hand, through the reducers: a checkpoint of source "update". What was pending stays pending.
   *
   * @example
   * await flow.update("user-42", { plan: "another" }, { as: "plan" });
   */
  async update(thread: string, values: Partial<State>, options: UpdateOptions = {}): Promise<CheckpointInfo> {
    const open = (namespace: readonly string[]): Thread<Values> => this.#thread(thread, namespace);
    return edit(this.#frame.definition, thread, open, values as Values, options);
  }

  /** Resumes every unfinished run of this workflow whose holder is gone, and every interrupt answered meanwhile. */
  async recover(options: RecoverOptions<State> = {}): Promise<readonly Recovered<State>[]> {
    return recover(this.#store(), this.name, options, (thread, walking: WalkOptions<State>) =>
      this.resume({ ...walking, thread }),
    );
  }

  /** The graph as Mermaid text. */
  mermaid(): string {
    return mermaid(this.#frame.definition);
  }

  #store(): Store<Values> {
    const { store } = this.#frame;
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
    .filter(({ index }) => index === ERROR)
    .map(({ node, task, value }) => ({
      node,
      task,
      message: String((value as { message?: unknown })?.message ?? value),
    }));
  const next = tasks.filter(({ task }) => !progress.results.has(task));
  const status =
    checkpoint.next.length === 0 ? "done" : interrupts.length > 0 ? "waiting" : errors.length > 0 ? "failed" : "paused";
  return { status, state: checkpoint.state, checkpoint, next, interrupts, errors };
}
