import type { Thread } from "../../api/thread.ts";
import type { AttributeChanges } from "../../model/attributes.ts";
import type { CheckpointTuple } from "../../model/checkpoint.ts";
import { checkAttributes } from "../../model/validation/attributes.ts";
import { RunError, StorageFailure } from "../errors.ts";
import type { Values } from "../graph/reducers.ts";
import { checkInput } from "../graph/schema.ts";
import { topologyOf } from "../graph/topology.ts";
import { headOf } from "../journal/late-answers.ts";
import { forgetRecoveries, noteRecovery } from "../journal/recoveries.ts";
import { type Breaks, type FlowNotes, type Position, readPosition } from "../position/graph-position.ts";
import { noInterrupt, type ResumePoint, resumePoint } from "../position/resume-run.ts";
import { checkFits, NOTHING, startPosition } from "../position/start-run.ts";
import { controlWrite, gotoWrite } from "../position/step-progress.ts";
import { timeOrderedId } from "../position/time-ordered-id.ts";
import { upgraded } from "../position/upgrade.ts";
import type { RunResult } from "../run/events.ts";
import type { LeaseKeeper } from "../run/lease-keeper.ts";
import { runMessageId } from "../run/mail.ts";
import { withNested } from "../run/nested.ts";
import type { GraphLevel } from "../run/session.ts";
import { pausedAt, stopsAt } from "./breakpoints.ts";
import { Call } from "./call.ts";
import { hasBegun, knownRun } from "./known-run.ts";
import {
  breaksOf,
  type ResumeOptions,
  type RunOptions,
  type Started,
  type StartOptions,
  type Taking,
} from "./options.ts";
import { nothingToResume, unfinishedRun } from "./start-errors.ts";

/** A run that is to begin. */
interface NewRun {
  readonly run: string;
  start(attributes?: AttributeChanges): Promise<Begun>;
}

/** The first position of a run, committed as its durability asks. */
interface Begun {
  readonly level: GraphLevel;
  readonly position: Position;
}

const NO_BREAKS: Breaks = { before: [], after: [] };

/** Finds the position that a call starts from, commits what changes on the way, and runs to the end. */
export class Execution extends Call {
  async run(input: unknown, options: RunOptions): Promise<RunResult> {
    const values = await this.#checked(input);
    if (this.threadId === undefined) {
      return this.guarded(async () => this.#runNew(await this.#newRun(values, undefined, undefined)));
    }
    return this.leased(async (thread) => {
      const begun = await this.#begin(thread, input, values, options);
      if ("result" in begun) return begun.result;
      if ("start" in begun) return this.#runNew(begun);
      const { head } = begun;
      const { tuple, migrated } = await upgraded(this.compiled.definition, head);
      return this.#continue(await resumePoint(this.compiled.definition, tuple, undefined, {}, migrated), head);
    });
  }

  /** Makes a run durable without running it: a worker takes it from there. */
  async start(input: unknown, { attributes, ...options }: StartOptions): Promise<Started> {
    if (attributes !== undefined) checkAttributes(attributes);
    const values = await this.#checked(input);
    const { run } = options;
    // A request that is repeated while its run is at work is not refused.
    if (run !== undefined && (await hasBegun(this.thread(), run))) return { run, started: false };
    return this.leased(async (thread) => {
      const begun = await this.#begin(thread, input ?? {}, values, options);
      if ("result" in begun) return { run: begun.result.run, started: false };
      if ("head" in begun) return { run: begun.head.checkpoint.run as string, started: false };
      const { level, position } = await begun.start(attributes);
      await level.journal.flush(position);
      return { run: begun.run, started: true };
    });
  }

  /** Checks the input before the thread is touched. Returns the values to start with. */
  async #checked(input: unknown): Promise<() => Promise<Values>> {
    const { name, schema } = this.compiled.definition;
    const checked = input === undefined || input === null ? undefined : await checkInput(name, schema, input);
    return async () => checked ?? checkInput(name, schema, {});
  }

  /** Begins a run, finds the unfinished one to continue, or the result of an earlier one under the same id. */
  async #begin(
    thread: Thread<Values>,
    input: unknown,
    values: () => Promise<Values>,
    options: RunOptions,
  ): Promise<NewRun | { readonly head: CheckpointTuple<Values> } | { readonly result: RunResult }> {
    const head = await headOf(thread);
    const { run } = options;
    if (head !== undefined) {
      const { checkpoint } = head;
      checkFits(this.compiled.definition, thread.id, checkpoint.workflow, NOTHING);
      if (run !== undefined && run === checkpoint.run) return { head };
    }
    const known = run === undefined ? undefined : await knownRun(thread, run);
    if (known !== undefined) return { result: known };
    if (head !== undefined && head.checkpoint.next.length > 0) {
      const { ifUnfinished = input === undefined || input === null ? "continue" : "fail" } = options;
      if (ifUnfinished === "continue") return { head };
      if (ifUnfinished === "fail") throw unfinishedRun(thread.id, head.checkpoint);
    }
    return this.#newRun(values, run, head);
  }

  async #newRun(
    values: () => Promise<Values>,
    named: string | undefined,
    head: CheckpointTuple | undefined,
  ): Promise<NewRun> {
    const input = await values();
    const run = named ?? crypto.randomUUID();
    return { run, start: (attributes) => this.#start(input, run, head, named !== undefined, attributes) };
  }

  #runNew({ run, start }: NewRun): Promise<RunResult> {
    return this.traced({ run, resumed: false }, async () => {
      const { level, position } = await start();
      return this.runToEnd(level, position, false);
    });
  }

  /**
   * Resumes the thread's run. With `judge`, only if that returns true for the head, seen under the lease; with
   * `maxRecoveries`, only so often at one head.
   */
  async resume(options: ResumeOptions): Promise<RunResult>;
  async resume(options: ResumeOptions, taking: Taking): Promise<RunResult | undefined>;
  async resume(
    { value, answers, update, goto, from }: ResumeOptions,
    { judge, maxRecoveries }: Partial<Taking> = {},
  ): Promise<RunResult | undefined> {
    const threadId = this.threadId as string;
    // Acquiring a lease would leave a meta record for a thread that does not exist.
    if (!(await exists(this.thread()))) throw nothingToResume(threadId);
    return this.leased(async (thread) => {
      const head = await headOf(thread);
      if (head === undefined) throw nothingToResume(threadId);
      if (judge !== undefined && !(await judge(head))) return undefined;
      const lease = (this.lease as LeaseKeeper).token;
      if (maxRecoveries !== undefined) await noteRecovery(thread, head, lease, maxRecoveries);
      const base = from === undefined ? undefined : await thread.tuple(from);
      if (from !== undefined && base === undefined) throw nothingToResume(threadId, from);
      const request = { value, answers, update: update as Values | undefined, goto };
      const { definition } = this.compiled;
      const current = await upgraded(definition, head);
      const earlier = base && (await upgraded(definition, base));
      const { migrated } = earlier ?? current;
      const point = await resumePoint(definition, current.tuple, earlier?.tuple, request, migrated);
      try {
        return await this.#continue(point, head);
      } catch (error) {
        const isStopped = error instanceof RunError && error.code === "ABORTED";
        if (isStopped && maxRecoveries !== undefined) await forgetRecoveries(thread, lease);
        throw error;
      }
    });
  }

  /** Starts a new run at START, on the state that the thread's last run left, and commits its first position. */
  async #start(
    values: Values,
    run: string,
    head: CheckpointTuple | undefined,
    named: boolean,
    attributes: AttributeChanges | undefined,
  ): Promise<Begun> {
    const { definition, defaults } = this.compiled;
    const breaks = this.breaks ?? breaksOf(definition, defaults) ?? NO_BREAKS;
    const last = head && (await upgraded(definition, head as CheckpointTuple<Values>));
    const before = last && readPosition(last.tuple, true);
    const level = this.level(run, breaks, head);
    this.listener.tell({ type: "start", run, thread: this.threadId, resumed: false });
    const cancellation = this.cancellation;
    // The first run of a thread stores the picture of its workflow; later runs need not store it again.
    const notes: FlowNotes = head === undefined && this.threadId !== undefined ? { graph: topologyOf(definition) } : {};
    const first = await startPosition({ definition, run, breaks, notes, cancellation }, values, before);
    // The difference from a state of an earlier version is not that from the migrated one.
    const position: Position = last?.migrated ? { ...first, change: undefined } : first;
    await level.journal.commit(position, { ...(named && { consume: [runMessageId(run)] }), attributes });
    return { level, position };
  }

  /** Goes on from a stored position. */
  #continue(point: ResumePoint, head: CheckpointTuple): Promise<RunResult> {
    const run = point.branchedFrom === undefined ? (point.position.run ?? undefined) : undefined;
    return this.traced({ run, resumed: true, begunBy: traceOf(head) }, () => this.#goOn(point, head));
  }

  /** Goes on from a stored position, which is committed first if it was changed or if a new breakpoint fires on it. */
  async #goOn(point: ResumePoint, head: CheckpointTuple): Promise<RunResult> {
    const { changed, branchedFrom, answered } = point;
    const { definition, defaults } = this.compiled;
    const run = branchedFrom === undefined ? (point.position.run ?? crypto.randomUUID()) : crypto.randomUUID();
    const position: Position = { ...point.position, run };
    const breaks = this.breaks ?? position.notes.breaks ?? breaksOf(definition, defaults) ?? NO_BREAKS;
    const level = this.level(run, breaks, head);
    const stops = this.breaks !== undefined && !changed && stopsAt(position, breaks);
    this.listener.tell({ type: "start", run, thread: this.threadId, resumed: true });
    if (!changed && !stops) {
      await this.#takeBackErrors(level, position);
      await this.#saveAnswers(level, position, answered);
      return this.runToEnd(level, position, true);
    }
    const { paused: _, ...notes } = position.notes;
    const start = stops ? pausedAt(position, { ...notes, breaks, paused: true }) : { ...position, notes };
    if (branchedFrom !== undefined) {
      await level.journal.commit(start, { parent: branchedFrom });
      return this.runToEnd(level, start, !stops);
    }
    const id = timeOrderedId();
    const noted = await withNested(level, start, head.checkpoint.id, id);
    await level.journal.commit(noted, { id });
    return this.runToEnd(level, noted, !stops);
  }

  /** Takes the errors of an earlier call back: a run that is tried again has not failed until it fails again. */
  async #takeBackErrors({ journal }: GraphLevel, { progress }: Position): Promise<void> {
    const writes = [controlWrite("error", null)];
    const failed = [...progress.failed];
    progress.failed.clear();
    const saving = failed.map((task) => journal.saveAtHead({ task, node: null, writes }));
    if (failed.length > 0) saving.push(journal.setDue("now"));
    await Promise.all(saving);
  }

  /** Saves the answers of this call; with `sync` they are durable before a task acts on them. */
  async #saveAnswers(level: GraphLevel, position: Position, answered: ReadonlyMap<string, unknown>): Promise<void> {
    const { journal } = level;
    const save = (task: string, write: { channel: string; value: unknown; index: number }): void =>
      journal.save(position, { task, node: null, writes: [write] }, (error) => new StorageFailure(error));
    for (const [question, value] of answered) {
      if (!(await this.mail?.give(level, position, question, value)))
        throw noInterrupt(this.threadId as string, question);
    }
    for (const [task, goto] of answered.size === 0 ? [] : position.progress.gotos) save(task, gotoWrite(goto));
    // Recovery after a crash sees by this write that the run had left the breakpoint.
    if (position.notes.paused) {
      const task = position.next[0]?.task ?? "";
      save(task, controlWrite("scheduled", true));
      await journal.setDue("now");
    }
    if (this.settings.durability === "sync") await journal.drain();
  }
}

/** Returns the trace context that a checkpoint was stored with. */
function traceOf({ checkpoint }: CheckpointTuple): string | undefined {
  const { trace } = checkpoint.metadata;
  return typeof trace === "string" ? trace : undefined;
}

async function exists(thread: Thread<Values>): Promise<boolean> {
  for await (const _ of thread.history({ limit: 1 })) return true;
  return false;
}
