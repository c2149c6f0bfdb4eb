import type { Frozen } from "./frozen.ts";

/** Options of `ctx.interrupt`. */
export interface InterruptOptions<Answer = unknown> {
  /** Tells the questions of a task apart, whatever the order they are asked in. Default: by their payloads, in order. */
  readonly key?: string;
  /** Milliseconds after which `default` is the answer. A worker (or `recover`) wakes the run then. Default: no limit. */
  readonly timeout?: number;
  /** The answer once the time is up. Default undefined. */
  readonly default?: Answer;
}

/** Options of `ctx.waitFor`. */
export interface WaitOptions {
  /** Milliseconds after which `waitFor` returns undefined. Default: no limit. */
  readonly timeout?: number;
}

/** Options of `ctx.emit`. */
export interface EmitOptions {
  /** Store the data until the checkpoint after it, so that `flow.follow` finds it from any process. Default false. */
  readonly keep?: boolean;
}

/** The second argument of a node. */
export interface Context<Arg = unknown, Emitted = unknown, Question = unknown, Answer = unknown> {
  /** The thread's id; undefined when the run has no thread and keeps nothing. */
  readonly thread: string | undefined;
  readonly run: string;
  /** The number of the super-step: the step of the checkpoint that will hold the task's result. */
  readonly superstep: number;
  readonly node: string;
  /**
   * The task's key. It stays the same when the task is run again (after a failure, a crash or an interrupt), and no other
   * task has it. ASCII, so that it can be an idempotency key for other systems.
   */
  readonly task: string;
  /** The number of this attempt, from 1. */
  readonly attempt: number;
  /** The argument of the `send` that activated the node, else undefined. */
  readonly arg: Frozen<Arg>;
  /** Aborted when the run is aborted or cancelled, when its lease is lost, or when the node's timeout has passed. */
  readonly signal: AbortSignal;
  /**
   * Asks a question. The run stops here with status "interrupted"; once there is an answer, the node runs again from its
   * start and this call returns the answer. The payload must be the same then: another one is another question.
   *
   * @example
   * const { ok } = ctx.interrupt<{ ok: boolean }>({ charge: amount }, { key: "approve", timeout: 86_400_000 });
   */
  interrupt<Given extends Answer = Answer>(payload?: Question, options?: InterruptOptions<Given>): Given;
  /**
   * Runs a function once in the life of the task: its result is stored before this resolves, and returned when the task
   * runs again after a crash, a failure or an interrupt. A name is used once in a task. A function that throws is not
   * remembered.
   *
   * @example
   * const receipt = await ctx.step("charge", () => payments.charge(amount, { idempotencyKey: ctx.task }));
   */
  step<Value>(name: string, run: () => Value | Promise<Value>): Promise<Value>;
  /**
   * Stops the task for some milliseconds, or until a time. Nothing waits in memory: the run ends with status "interrupted",
   * and a worker (or `recover`) wakes it. The node runs again from its start then.
   *
   * @example
   * await ctx.sleep(60_000);
   * await ctx.sleep(new Date("2030-01-01"));
   */
  sleep(time: number | Date): Promise<void>;
  /**
   * Waits for a signal of that name and returns its payload; undefined when the time is up. A signal that was sent before is
   * found too. Like `sleep`, it ends the run until then.
   *
   * @example
   * const payment = await ctx.waitFor<Payment>("paid", { timeout: 86_400_000 });
   */
  waitFor<Payload = unknown>(name: string, options?: WaitOptions): Promise<Payload | undefined>;
  /**
   * Emits an event of type "emit" to the run's listeners. Await it where a stream may be slow to read: it resolves when the
   * reader has caught up.
   */
  emit(data: Frozen<Emitted>, options?: EmitOptions): Promise<void>;
}
