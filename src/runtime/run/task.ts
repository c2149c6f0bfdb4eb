import type { Interrupt } from "../../model/checkpoint.ts";
import { type RunError, StorageFailure } from "../errors.ts";
import { isNested, type NodeDefinition } from "../graph/definition.ts";
import { targetList } from "../graph/goto.ts";
import { capture, isPlainObject, release } from "../thread/capture.ts";
import type { Position } from "../thread/graph-position.ts";
import { runNested } from "../thread/nested.ts";
import { interruptId, type Result } from "../thread/step-progress.ts";
import { taskKey } from "../thread/task-key.ts";
import { Cancellation } from "./cancellation.ts";
import type { Context } from "./context.ts";
import { checkTarget, type Task, UnknownTarget } from "./routing.ts";
import { type Level, nodeError } from "./session.ts";

/** The outcome of a task. */
export type Outcome =
  | { readonly kind: "done"; readonly result: Result; readonly raw: Result }
  | { readonly kind: "asked"; readonly interrupts: readonly Interrupt[] }
  | { readonly kind: "failed"; readonly error: RunError };

/** Runs a task with its retries. Rejects for faults of the store only. */
export async function runTask(level: Level, position: Position, task: Task): Promise<Outcome> {
  const node = level.definition.nodes.get(task.node) as NodeDefinition;
  const { attempts = 1, backoff = 0, when } = node.options.retry ?? {};
  const { session } = level;
  for (let attempt = 1; ; attempt += 1) {
    const current = new Attempt(level, position, task, node, attempt);
    // A cancelled run begins no further task of its step.
    if (session.cancellation.cancelled) return { kind: "failed", error: current.aborted() };
    const outcome = await current.outcome();
    if (outcome.kind !== "failed" || attempt >= attempts || !isWorthRetrying(outcome.error, when)) return outcome;
    session.emit({ type: "retry", ...current.address, attempt: attempt + 1, error: outcome.error.cause });
    await session.cancellation.sleep(backoff * 2 ** (attempt - 1));
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

/** Thrown inside a node to stop it at an unanswered question. */
class Interruption extends Error {
  override readonly name = "Interruption";
}

/** An attempt at a task. */
class Attempt {
  readonly #level: Level;
  readonly #position: Position;
  readonly #task: Task;
  readonly #node: NodeDefinition;
  readonly #attempt: number;
  readonly #cancellation: Cancellation;
  #asked: readonly Interrupt[] = [];
  #questions = 0;
  #timeUp: Error | undefined;
  #ended = false;

  constructor(level: Level, position: Position, task: Task, node: NodeDefinition, attempt: number) {
    this.#level = level;
    this.#position = position;
    this.#task = task;
    this.#node = node;
    this.#attempt = attempt;
    this.#cancellation = node.options.timeout === undefined ? level.session.cancellation : new Cancellation();
  }

  get address(): { namespace: readonly string[]; step: number; node: string; task: string } {
    const { session, namespace } = this.#level;
    const task = taskKey(session.threadId, session.run, namespace, this.#task.task);
    return { namespace, step: this.#position.step + 1, node: this.#node.name, task };
  }

  async outcome(): Promise<Outcome> {
    this.#level.session.emit({ type: "task", ...this.address, attempt: this.#attempt });
    let returned: unknown;
    try {
      returned = await this.#limited(() => this.#work());
      if (this.#asked.length === 0) return this.#done(returned);
    } catch (error) {
      if (error instanceof StorageFailure) throw error;
      if (this.#asked.length === 0) return { kind: "failed", error: this.#failure(error) };
    } finally {
      this.#ended = true;
    }
    // A node that caught the interruption, or threw another error after it, was still interrupted.
    return { kind: "asked", interrupts: this.#asked };
  }

  aborted(): RunError {
    return this.#error("ABORTED", "was aborted", this.#level.session.cancellation.reason);
  }

  async #work(): Promise<unknown> {
    const { work } = this.#node;
    if (!isNested(work)) return work(this.#position.state, this.#context());
    const answer = await runNested(this.#level, this.#position, this.#task, work, this.#cancellation);
    if ("asked" in answer) this.#asked = answer.asked;
    return "asked" in answer ? undefined : answer.update;
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
      const timer =
        timeout === undefined
          ? undefined
          : setTimeout(() => {
              this.#timeUp = new Error(`it took longer than ${timeout} ms`);
              quit(this.#timeUp);
            }, timeout);
      const settled = (): void => {
        clearTimeout(timer);
        stop();
      };
      work().then(resolve, reject).finally(settled);
    });
  }

  #context(): Context {
    const { session } = this.#level;
    const { address } = this;
    return {
      thread: session.threadId,
      run: session.run,
      step: address.step,
      node: address.node,
      task: address.task,
      attempt: this.#attempt,
      arg: this.#task.arg,
      signal: this.#cancellation.signal,
      interrupt: <Answer>(payload?: unknown): Answer => this.#interrupt(payload) as Answer,
      emit: (data: unknown): void => {
        if (!this.#ended) session.emit({ type: "emit", ...address, data });
      },
    };
  }

  #interrupt(payload: unknown): unknown {
    const { threadId } = this.#level.session;
    if (threadId === undefined) {
      throw new TypeError("interrupt() needs a thread to wait in: run with { thread }.");
    }
    if (this.#ended) throw new TypeError(`interrupt() was called after the task of "${this.#node.name}" had ended.`);
    const { answers } = this.#position.progress;
    const id = interruptId(this.#task.task, this.#questions);
    this.#questions += 1;
    if (answers.has(id)) return release(answers.get(id));
    // Only the first open question counts, even if the node catches the interruption and asks another.
    if (this.#asked.length === 0) this.#asked = [{ id, node: this.#node.name, value: payload }];
    throw new Interruption(`Node "${this.#node.name}" waits for an answer.`);
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
