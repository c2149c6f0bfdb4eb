/** What a node gets besides the state. */
export interface Context {
  /** The thread, or undefined when the run has none (and keeps nothing). */
  readonly thread: string | undefined;
  readonly run: string;
  /** The step that this task is part of: that of the checkpoint its result will be in. */
  readonly step: number;
  readonly node: string;
  /**
   * The task's key: the same whenever this task is run again, after a failure, a crash or an interrupt, and no other
   * task's. ASCII; fit to be an idempotency key for the outside world.
   */
  readonly task: string;
  /** 1, or more when the node is tried again after an error. */
  readonly attempt: number;
  /** The argument of the `send` that activated the node. */
  readonly arg: unknown;
  /** Aborted when the run is, or when the attempt's time is up. */
  readonly signal: AbortSignal;
  /**
   * Asks the outside. The run stops here with status "interrupted"; once it is resumed with an answer, the node runs
   * again from its start and this call returns the answer. Several calls in one task are answered in their order.
   */
  interrupt<Answer = unknown>(payload?: unknown): Answer;
  /** Sends something to whoever streams the run. */
  emit(data: unknown): void;
}
