import type { Lease } from "../../api/lease.ts";
import { type Mailbox, mailboxOf } from "../../api/mailbox.ts";
import type { Store } from "../../api/store.ts";
import type { Thread } from "../../api/thread.ts";
import { ThreadmarkError } from "../../errors.ts";
import type { CheckpointTuple } from "../../model/checkpoint.ts";
import { controlIndexes } from "../../model/control-writes.ts";
import { endOf, type Status, statusOf } from "../../model/status.ts";
import { nothingToResume } from "../call/start-errors.ts";
import { listen, ring } from "../control/bell.ts";
import type { Definition } from "../graph/definition.ts";
import type { Values } from "../graph/reducers.ts";
import { commitCancelled } from "../journal/cancel-run.ts";
import { headOf } from "../journal/late-answers.ts";
import { checkAnswer } from "../position/check-answer.ts";
import { tasksOf } from "../position/graph-position.ts";
import { noInterrupt } from "../position/resume-run.ts";
import { checkFits, NOTHING } from "../position/start-run.ts";
import { openInterrupts, readProgress } from "../position/step-progress.ts";
import type { LeaseOptions } from "../run/lease-keeper.ts";
import { type AnswerPayload, answerMessageId, type CancelPayload, cancelMessageId, kinds } from "../run/mail.ts";

/** A compiled graph, as far as programs that do not run it need it. */
interface Outside {
  readonly definition: Definition;
  readonly store: Store<Values>;
  readonly lease: LeaseOptions;
}

/** Answers a question of a thread from any process, whoever runs the thread. Durable when it resolves. */
export async function answer(
  { definition, store }: Outside,
  id: string,
  question: string,
  value: unknown,
): Promise<void> {
  if (typeof question !== "string")
    throw new TypeError("answer needs the id of a question: answer(thread, id, value).");
  const thread = store.thread<Values>(id);
  const head = await headOf(thread);
  if (head === undefined) throw nothingToResume(id);
  checkFits(definition, id, head.checkpoint.workflow, NOTHING);
  const next = tasksOf(head.checkpoint);
  const open = openInterrupts({ next, progress: readProgress(head, next, false) }).find((each) => each.id === question);
  if (open === undefined) throw noInterrupt(id, question);
  const { run } = head.checkpoint;
  const payload: AnswerPayload = {
    run,
    question,
    value: await checkAnswer(definition, id, open.node, question, value),
  };
  const { stored } = await mailboxOf(thread).send({ id: answerMessageId(run, question), kind: kinds.answer, payload });
  if (!stored) throw noInterrupt(id, question);
  ring(store, id);
}

/** Options of `flow.signal`. */
export interface SignalOptions {
  /** A second signal of this id is ignored, also after the first was received. Default: every signal counts. */
  readonly id?: string;
}

/** Sends a signal to a thread, which may not have begun, nor wait for it yet. Durable when it resolves. */
export async function signal(
  store: Store<Values>,
  id: string,
  name: string,
  payload: unknown,
  options: SignalOptions,
): Promise<{ readonly stored: boolean }> {
  if (typeof name !== "string" || name === "" || name.length > 200 || !name.isWellFormed()) {
    throw new TypeError("signal needs a name of 1 to 200 characters: signal(thread, name, payload).");
  }
  const message = { kind: kinds.signal, name, payload };
  const identity = options.id === undefined ? {} : { id: `signal:${options.id}` };
  const { stored } = await mailboxOf(store.thread<Values>(id)).send({ ...identity, ...message }, { early: true });
  ring(store, id);
  return { stored };
}

/** Options of `flow.cancel`. */
export interface CancelOptions {
  /** The reason, for people: `flow.state(thread).errors` shows it. Default: none. */
  readonly reason?: string;
  /** Ends the wait for the holder of the thread; the cancellation itself stands. Default: none. */
  readonly signal?: AbortSignal;
}

/** The outcome of a cancellation. */
export interface Cancelled {
  /** False if the run had ended, or ended first: its end stands. */
  readonly cancelled: boolean;
  readonly status: Status;
}

/** How often a canceller looks whether the holder is done. */
const LOOK = 50;

/**
 * Cancels the run of a thread, whoever holds it, and resolves when that is committed, or when the run has ended first. A
 * run that nobody holds is ended here; a holder is asked by a message, and ends its run itself.
 */
export async function cancel(
  outside: Outside,
  id: string,
  { reason, signal: stop }: CancelOptions,
): Promise<Cancelled> {
  const { definition, store } = outside;
  const thread = store.thread<Values>(id);
  const first = await thread.tuple();
  if (first === undefined) throw nothingToResume(id);
  checkFits(definition, id, first.checkpoint.workflow, NOTHING);
  const { run } = first.checkpoint;
  const mailbox = mailboxOf(thread);
  const message = cancelMessageId(run);
  const payload: CancelPayload = { run, reason };
  for (let head: CheckpointTuple<Values> | undefined = first; ; head = await thread.tuple()) {
    const ended = head === undefined ? { cancelled: false, status: "done" as const } : endedStatus(head, run);
    if (ended !== undefined) {
      await withdraw(mailbox, message);
      return ended;
    }
    const lease = await tryAcquire(thread, outside.lease);
    if (lease !== undefined) {
      const done = await cancelIdle(thread, lease, run, reason, mailbox, message);
      if (done !== undefined) return done;
      continue;
    }
    if ((await mailbox.send({ id: message, kind: kinds.cancel, payload })).stored) ring(store, id);
    await news(store, id, stop);
    stop?.throwIfAborted();
  }
}

/** Cancels a run under its lease, unless it has ended meanwhile. */
async function cancelIdle(
  thread: Thread<Values>,
  lease: Lease,
  run: string | null,
  reason: unknown,
  mailbox: Mailbox<Values>,
  message: string,
): Promise<Cancelled | undefined> {
  try {
    const head = await thread.tuple();
    if (head === undefined || endedStatus(head, run) !== undefined) return undefined;
    const asked = (await mailbox.pending()).some(({ id }) => id === message);
    await commitCancelled(thread, head, lease, reason, asked ? [message] : []);
    return { cancelled: true, status: "cancelled" };
  } finally {
    await lease.release();
  }
}

/** Returns how a run has ended; undefined while it goes on. */
function endedStatus({ checkpoint, writes }: CheckpointTuple<Values>, run: string | null): Cancelled | undefined {
  const end = endOf(writes.filter(({ index }) => index === controlIndexes.error).map(({ value }) => value));
  if (checkpoint.run !== run) return { cancelled: false, status: "done" };
  if (checkpoint.next.length > 0) return undefined;
  const status = statusOf({ leased: false, end, waiting: checkpoint.interrupts.length, pending: 0 });
  return { cancelled: status === "cancelled", status };
}

async function tryAcquire(thread: Thread<Values>, { holder, ttl }: LeaseOptions): Promise<Lease | undefined> {
  try {
    return await thread.acquire({ ...(holder !== undefined && { holder }), ...(ttl !== undefined && { ttl }) });
  } catch (error) {
    if (ThreadmarkError.is(error, "BUSY")) return undefined;
    throw error;
  }
}

/** Takes a cancellation back that came too late, so that it waits for nobody. */
async function withdraw(mailbox: Mailbox<Values>, message: string): Promise<void> {
  if (!(await mailbox.pending()).some(({ id }) => id === message)) return;
  try {
    await mailbox.discard([message]);
  } catch (error) {
    // The holder of the thread was quicker.
    if (!ThreadmarkError.is(error, "CONFLICT", "NOT_FOUND")) throw error;
  }
}

/** Waits until the thread may have changed. */
async function news(store: object, id: string, stop: AbortSignal | undefined): Promise<void> {
  await new Promise<void>((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      unlisten();
      stop?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, LOOK);
    const unlisten = listen(store, (thread) => {
      if (thread === id) done();
    });
    stop?.addEventListener("abort", done);
  });
}
