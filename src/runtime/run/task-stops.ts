import { checkOptions } from "../../model/validation/checks.ts";
import type { InterruptOptions, WaitOptions } from "../graph/context.ts";
import type { Task } from "../graph/routing.ts";
import type { Position } from "../position/graph-position.ts";
import { keyedQuestionId, questionId, type Stop, sleepId, stepId, waitId } from "../position/stops.ts";
import { capture, release } from "../values/capture.ts";
import { sameValue } from "../values/same-value.ts";
import { type GraphLevel, rememberAt } from "./session.ts";

/** Thrown inside a node to stop it at a question, a sleep or a wait. */
class Interruption extends Error {
  override readonly name = "Interruption";
}

/** The questions, sleeps, waits and remembered steps of one attempt at a task. */
export class TaskStops {
  readonly #level: GraphLevel;
  readonly #position: Position;
  readonly #task: Task;
  readonly #claimed = new Set<string>();
  readonly #running = new Set<Promise<unknown>>();
  #open: Stop[] = [];
  #sleeps = 0;
  #ended = false;

  constructor(level: GraphLevel, position: Position, task: Task) {
    this.#level = level;
    this.#position = position;
    this.#task = task;
  }

  /** Returns the stops that this attempt met without an answer. */
  get open(): readonly Stop[] {
    return this.#open;
  }

  /** Takes the stops of a nested graph as those of its task. */
  stopAt(stops: readonly Stop[]): void {
    this.#open = [...stops];
  }

  /** Refuses everything that the node calls from now on. */
  end(): void {
    this.#ended = true;
  }

  /** Waits for the steps that are under way: their results are kept, though the node has stopped elsewhere. */
  async settled(): Promise<void> {
    await this.#level.session.cancellation.during(Promise.allSettled(this.#running)).catch(() => {});
  }

  interrupt(given: unknown, options: InterruptOptions): unknown {
    checkOptions(options, ["key", "timeout", "default"], "interrupt");
    const { key, timeout, default: otherwise } = options;
    this.#check("interrupt()");
    checkTimeout("interrupt()", timeout);
    if (key !== undefined && (typeof key !== "string" || key === "" || key.length > 100)) {
      throw new TypeError("interrupt({ key }) must be a text of 1 to 100 characters.");
    }
    const payload = capture(given);
    const family = (count: number): string =>
      key === undefined ? questionId(this.#task.task, count) : keyedQuestionId(this.#task.task, key, count);
    const id = this.#claim(family, key, payload);
    const known = this.#stored(id);
    const { answers } = this.#position.progress;
    if (known !== undefined && answers.has(id)) return release(answers.get(id));
    const until = known?.until ?? (timeout === undefined ? undefined : this.#now() + timeout);
    this.#stop({
      id,
      node: this.#task.node,
      value: payload,
      ...(until !== undefined && { until, otherwise: capture(otherwise) }),
    });
  }

  async step<Value>(name: string, run: () => Value | Promise<Value>): Promise<Value> {
    if (typeof name !== "string" || name === "" || name.length > 200 || !name.isWellFormed()) {
      throw new TypeError("step() needs a name of 1 to 200 characters: step(name, run).");
    }
    if (typeof run !== "function") throw new TypeError(`Step "${name}" needs a function to run.`);
    this.#checkRunning("step()");
    const id = stepId(this.#task.task, name);
    if (this.#claimed.has(id)) {
      throw new TypeError(
        `Step "${name}" was called twice in one task of "${this.#task.node}": give each its own name.`,
      );
    }
    this.#claimed.add(id);
    const { answers } = this.#position.progress;
    if (answers.has(id)) return release(answers.get(id)) as Value;
    const running = this.#remember(id, run);
    this.#running.add(running);
    return running.finally(() => this.#running.delete(running));
  }

  async sleep(time: number | Date): Promise<void> {
    const isDate = time instanceof Date;
    if (!Number.isFinite(isDate ? time.getTime() : time) || (typeof time === "number" && time < 0)) {
      throw new TypeError("sleep() needs a number of milliseconds, or a Date.");
    }
    this.#checkRunning("sleep()");
    const id = sleepId(this.#task.task, this.#sleeps);
    this.#sleeps += 1;
    const { session } = this.#level;
    if (this.#position.progress.answers.has(id)) return;
    const now = this.#now();
    const until = this.#stored(id)?.until ?? (isDate ? time.getTime() : now + time);
    if (until <= now) return;
    if (session.threadId === undefined) return session.cancellation.sleep(until - now, session.timer);
    this.#stop({ id, node: this.#task.node, value: null, kind: "sleep", until });
  }

  async waitFor(name: string, options: WaitOptions): Promise<unknown> {
    checkOptions(options, ["timeout"], "waitFor");
    const { timeout } = options;
    if (typeof name !== "string" || name === "" || name.length > 200 || !name.isWellFormed()) {
      throw new TypeError("waitFor() needs the name of a signal, of 1 to 200 characters.");
    }
    checkTimeout("waitFor()", timeout);
    this.#check("waitFor()");
    const { answers } = this.#position.progress;
    let count = 0;
    while (this.#claimed.has(waitId(this.#task.task, name, count))) count += 1;
    const id = waitId(this.#task.task, name, count);
    this.#claimed.add(id);
    if (answers.has(id)) return release(answers.get(id));
    const until = this.#stored(id)?.until ?? (timeout === undefined ? undefined : this.#now() + timeout);
    const stop: Stop = {
      id,
      node: this.#task.node,
      value: null,
      kind: "signal",
      signal: name,
      ...(until !== undefined && { until }),
    };
    if (await this.#level.session.mail?.takeSignal(this.#level, this.#position, stop)) return release(answers.get(id));
    this.#stop(stop);
  }

  /** Finds the id of a question: that of a stored one with the same payload, or the first of its family that is free. */
  #claim(family: (count: number) => string, key: string | undefined, payload: unknown): string {
    for (let count = 0; ; count += 1) {
      const id = family(count);
      if (this.#claimed.has(id)) {
        if (key === undefined) continue;
        throw new TypeError(`The key "${key}" was used twice in one task of "${this.#task.node}".`);
      }
      const known = this.#stored(id);
      if (known !== undefined && !sameValue(known.value, payload)) continue;
      this.#claimed.add(id);
      return id;
    }
  }

  #stored(id: string): Stop | undefined {
    return this.#position.progress.asked.get(this.#task.task)?.find((stop) => stop.id === id);
  }

  #stop(stop: Stop): never {
    this.#open.push(stop);
    const what =
      stop.kind === undefined ? "an answer" : stop.kind === "sleep" ? "its time" : `the signal "${stop.signal}"`;
    throw new Interruption(`Node "${this.#task.node}" waits for ${what}.`);
  }

  async #remember<Value>(id: string, run: () => Value | Promise<Value>): Promise<Value> {
    const value = await run();
    const captured = capture(value);
    await rememberAt(this.#level, this.#position, new Map([[id, captured]]));
    this.#position.progress.answers.set(id, captured);
    return value;
  }

  #now(): number {
    return this.#level.session.now();
  }

  #check(what: string): void {
    if (this.#level.session.threadId === undefined) {
      throw new TypeError(`${what} needs a thread to wait in: run with { thread }.`);
    }
    this.#checkRunning(what);
  }

  #checkRunning(what: string): void {
    if (this.#ended) throw new TypeError(`${what} was called after the task of "${this.#task.node}" had ended.`);
  }
}

function checkTimeout(what: string, timeout: number | undefined): void {
  if (timeout !== undefined && !(Number.isFinite(timeout) && timeout >= 0)) {
    throw new TypeError(`The timeout of ${what} must be a number of milliseconds.`);
  }
}
