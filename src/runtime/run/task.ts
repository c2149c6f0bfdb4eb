import { checkOptions } from "../../model/validation/checks.ts";
import { traced, type WorkEvent } from "../../platform/diagnostics.ts";
import { isPlainObject } from "../../platform/plain-objects.ts";
import { Cancellation } from "../control/cancellation.ts";
import { RunError, StorageFailure } from "../errors.ts";
import type { Context, EmitOptions, InterruptOptions, WaitOptions } from "../graph/context.ts";
import { isNested, type NodeDefinition } from "../graph/definition.ts";
import { targetList } from "../graph/goto.ts";
import { checkTarget, type Task, UnknownTarget } from "../graph/routing.ts";
import type { Position } from "../position/graph-position.ts";
import type { Result } from "../position/step-progress.ts";
import type { Stop } from "../position/stops.ts";
import { taskKey } from "../position/task-key.ts";
import { capture, ownCopy } from "../values/capture.ts";
import { runNested } from "./nested.ts";
import { type GraphLevel, keepEmitted, nodeError } from "./session.ts";
import { TaskStops } from "./task-stops.ts";

/** The outcome of a task. */
export type Outcome =
  | { readonly kind: "done"; readonly result: Result; readonly raw: Result }
  | { readonly kind: "asked"; readonly stops: readonly Stop[] }
  | { readonly kind: "failed"; readonly error: RunError };

/** Runs a task with its retries. Rejects for faults of the store only. */
export async function runTask(level: GraphLevel, position: Position, task: Task): Promise<Outcome> {
  const node = level.definition.nodes.get(task.node) as NodeDefinition;
  const { attempts = 1, backoff = 0, when } = node.options.retry ?? {};
  const { session } = level;
  for (let attempt = 1; ; attempt += 1) {
    const current = new Attempt(level, position, task, node, attempt);
    const outcome = await slotted(level, node, current);
    if (outcome.kind !== "failed" || attempt >= attempts || !isWorthRetrying(outcome.error, when)) return outcome;
    session.emit({ type: "retry", ...current.address, attempt: attempt + 1, error: outcome.error.cause });
    await session.cancellation.sleep(backoff * 2 ** (attempt - 1), session.timer);
  }
}

/** Makes an attempt as soon as the run's concurrency allows it. */
async function slotted({ session }: GraphLevel, { work }: NodeDefinition, attempt: Attempt): Promise<Outcome> {
  const { slots } = session;
  if (!isNested(work)) await slots.enter();
  try {
    // A cancelled run begins no further task of its step.
    if (session.cancellation.cancelled) return { kind: "failed", error: attempt.aborted() };
    return await attempt.outcome();
  } finally {
    if (!isNested(work)) slots.leave();
  }
}

function isWorthRetrying(error: RunError, when: ((error: unknown) => boolean) | undefined): boolean {
  if (error.code !== "NODE_FAILED" && error.code !== "TIMEOUT") return false;
  try {
    return when === undefined || when(error.cause);
  } catch {
    // The node's own error is reported, not that of the predicate.
    return false;
  }
}

/** An attempt at a task. */
class Attempt {
  readonly #level: GraphLevel;
  readonly #position: Position;
  readonly #task: Task;
  readonly #node: NodeDefinition;
  readonly #attempt: number;
  readonly #cancellation: Cancellation;
  readonly #stops: TaskStops;
  #timeUp: Error | undefined;
  #ended = false;

  constructor(level: GraphLevel, position: Position, task: Task, node: NodeDefinition, attempt: number) {
    this.#level = level;
    this.#position = position;
    this.#task = task;
    this.#node = node;
    this.#attempt = attempt;
    this.#stops = new TaskStops(level, position, task);
    this.#cancellation = node.options.timeout === undefined ? level.session.cancellation : new Cancellation();
  }

  get address(): { namespace: readonly string[]; step: number; node: string; task: string } {
    const { session, namespace } = this.#level;
    const task = taskKey(session.threadId, session.run, namespace, this.#task.task);
    return { namespace, step: this.#position.step + 1, node: this.#node.name, task };
  }

  async outcome(): Promise<Outcome> {
    this.#level.session.emit({ type: "task", ...this.address, attempt: this.#attempt });
    try {
      const returned = await traced(
        "task",
        () => this.#facts(),
        () => this.#limited(() => this.#work()),
      );
      if (this.#stops.open.length === 0) return this.#done(returned);
    } catch (error) {
      if (error instanceof StorageFailure) throw error;
      if (this.#stops.open.length === 0 || this.#isOver) return { kind: "failed", error: this.#failure(error) };
    } finally {
      this.#ended = true;
      this.#stops.end();
      await this.#stops.settled();
    }
    // A node that caught the interruption, or threw another error after it, was still interrupted.
    return { kind: "asked", stops: this.#stops.open };
  }

  /** Tells whether the attempt was ended from outside, rather than by its node. */
  get #isOver(): boolean {
    return this.#timeUp !== undefined || this.#level.session.cancellation.cancelled;
  }

  #facts(): WorkEvent {
    const { session, definition } = this.#level;
    const { node, task } = this.address;
    return { graph: definition.name, thread: session.threadId, run: session.run, node, task, attempt: this.#attempt };
  }

  aborted(): RunError {
    return this.#error("ABORTED", "was aborted", this.#level.session.cancellation.reason);
  }

  async #work(): Promise<unknown> {
    const { work } = this.#node;
    if (!isNested(work)) return work(ownCopy(this.#position.state), this.#context());
    const answer = await runNested(this.#level, this.#position, this.#task, work, this.#cancellation);
    if ("stops" in answer) this.#stops.stopAt(answer.stops);
    return "stops" in answer ? undefined : answer.update;
  }

  /** Waits for the work, at most until its timeout or the end of the run. */
  #limited(work: () => Promise<unknown>): Promise<unknown> {
    const { session } = this.#level;
    const { timeout } = this.#node.options;
    return new Promise((resolve, reject) => {
      const quit = (reason: unknown): void => {
        this.#cancellation.cancel(reason);
        // A nested graph is awaited: it must have stopped writing before it can be tried again.
        if (!isNested(this.#node.work)) reject(reason);
      };
      const stop = session.cancellation.onCancel(quit);
      const clear =
        timeout === undefined
          ? undefined
          : session.timer(timeout, () => {
              this.#timeUp = new Error(`it took longer than ${timeout} ms`);
              quit(this.#timeUp);
            });
      const settled = (): void => {
        clear?.();
        stop();
      };
      work().then(resolve, reject).finally(settled);
    });
  }

  #context(): Context {
    const { session } = this.#level;
    const { address } = this;
    const stops = this.#stops;
    return {
      thread: session.threadId,
      run: session.run,
      superstep: address.step,
      node: address.node,
      task: address.task,
      attempt: this.#attempt,
      arg: ownCopy(this.#task.arg),
      signal: this.#cancellation.signal,
      interrupt: <Answer>(payload?: unknown, options: InterruptOptions<Answer> = {}): Answer =>
        stops.interrupt(payload, options as InterruptOptions) as Answer,
      step: (name, run) => stops.step(name, run),
      sleep: (time) => stops.sleep(time),
      waitFor: async <Payload>(name: string, options: WaitOptions = {}): Promise<Payload | undefined> =>
        (await stops.waitFor(name, options)) as Payload | undefined,
      emit: async (data: unknown, options: EmitOptions = {}): Promise<void> => {
        checkOptions(options, ["keep"], "emit");
        const { keep = false } = options;
        if (this.#ended) return;
        session.emit({ type: "emit", ...address, data });
        if (keep) await keepEmitted(this.#level, this.#position, address.node, data);
        await session.drained();
      },
    };
  }

  #done(returned: unknown): Outcome {
    try {
      const raw = parse(this.#node.name, returned);
      for (const target of raw.goto === undefined ? [] : targetList(raw.goto, `The goto of "${this.#node.name}"`)) {
        checkTarget(this.#level.definition, this.#node.name, target);
      }
      return { kind: "done", raw, result: { update: capture(raw.update), goto: capture(raw.goto) } };
    } catch (error) {
      return { kind: "failed", error: this.#failure(error) };
    }
  }

  #failure(error: unknown): RunError {
    if (this.#level.session.cancellation.cancelled) return this.aborted();
    if (this.#timeUp !== undefined) return this.#error("TIMEOUT", "ran out of time", this.#timeUp);
    if (error instanceof UnknownTarget) return this.#error("UNKNOWN_NODE", "goes nowhere", error);
    const isLimit = isNested(this.#node.work) && error instanceof RunError && error.code === "STEP_LIMIT";
    if (isLimit) return this.#error("STEP_LIMIT", "did not end", error);
    return this.#error("NODE_FAILED", "failed", error);
  }

  #error(code: RunError["code"], what: string, cause: unknown): RunError {
    const failed = { node: this.#node.name, task: this.#task.task, step: this.#position.step + 1 };
    return nodeError(this.#level, code, failed, what, cause);
  }
}

/** Parses a node's result: nothing, a partial state, or an object with only the keys `update` and `goto`. */
function parse(node: string, returned: unknown): Result {
  if (returned === undefined || returned === null) return { update: undefined, goto: undefined };
  if (!isPlainObject(returned)) {
    throw new TypeError(
      `Node "${node}" returned ${Array.isArray(returned) ? "an array" : `a ${typeof returned}`}: return a partial state, { update, goto }, or nothing.`,
    );
  }
  const keys = Object.keys(returned);
  const isCommand = keys.length > 0 && keys.every((key) => key === "update" || key === "goto");
  if (!isCommand) return { update: returned, goto: undefined };
  const { update, goto } = returned as unknown as Result;
  if (update !== undefined && !isPlainObject(update)) {
    throw new TypeError(`The update that node "${node}" returned is no plain object: return a partial state.`);
  }
  return { update, goto };
}
