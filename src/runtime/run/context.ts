/** The second argument of a node. */
export interface Context {
  /** The thread's id; undefined when the run has no thread and keeps nothing. */
  readonly thread: string | undefined;
  readonly run: string;
  /** The step of the checkpoint that will hold the task's result. */
  readonly step: number;
  readonly node: string;
  /**
   * The task's key. It stays the same when the task is run again (after a failure, a crash or an interrupt), and no other
   * task has it. ASCII, so that it can be an idempotency key for other systems.
   */
  readonly task: string;
  /** The number of this attempt, from 1. */
  readonly attempt: number;
  /** The argument of the `send` that activated the node, else undefined. */
  readonly arg: unknown;
  /** Aborted when the run is aborted or the node's timeout has passed. */
  readonly signal: AbortSignal;
  /**
   * Asks a question. The run stops here with status "interrupted"; once it is resumed with an answer, the node runs
   * again from its start and this call returns the answer. Several calls in one task are answered in their order.
   */
  interrupt<Answer = unknown>(payload?: unknown): Answer;
  /** Emits an event of type "emit" to the run's listeners. */
  emit(data: unknown): void;
}
