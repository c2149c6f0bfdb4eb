import { type Mailbox, type Message, mailboxOf } from "../../api/mailbox.ts";
import type { Thread } from "../../api/thread.ts";
import type { LeaseToken } from "../../model/interface/options.ts";
import { StorageFailure } from "../errors.ts";
import type { Values } from "../graph/reducers.ts";
import type { Position } from "../position/graph-position.ts";
import { answerWrite, openStops } from "../position/step-progress.ts";
import { isQuestion, type Stop } from "../position/stops.ts";
import { sameValue } from "../values/same-value.ts";
import { ensureStored, type GraphLevel } from "./session.ts";

/** The kinds of messages that the runtime sends. Others are not its own, and stay. */
export const kinds = { answer: "answer", signal: "signal", cancel: "cancel", run: "run" } as const;

/** The payload of an answer. The run tells questions of the same id on another branch of the history apart. */
export interface AnswerPayload {
  readonly run: string | null;
  readonly question: string;
  readonly value: unknown;
}

/** The payload of a cancellation. */
export interface CancelPayload {
  readonly run: string | null;
  readonly reason: unknown;
}

/** Returns the id of the message that answers a question: of several answers the first counts. */
export function answerMessageId(run: string | null, question: string): string {
  return `answer:${run ?? ""}:${question}`;
}

/** Returns the id of the message that cancels a run. */
export function cancelMessageId(run: string | null): string {
  return `cancel:${run ?? ""}`;
}

/** Returns the id of the message that names a run. */
export function runMessageId(run: string): string {
  return `run:${run}`;
}

/** The messages to the thread of a run, as its holder uses them. */
export class ThreadMail {
  readonly #mailbox: Mailbox<Values>;
  readonly #lease: LeaseToken | undefined;
  readonly #open: (namespace: readonly string[]) => Thread<Values> | undefined;
  /** Messages that a task is taking: two tasks may wait for signals of one name. */
  readonly #taken = new Set<string>();
  #known: { readonly waiting: number; readonly messages: readonly Message[] } = { waiting: 0, messages: [] };

  constructor(
    thread: Thread<Values>,
    lease: LeaseToken | undefined,
    open: (namespace: readonly string[]) => Thread<Values> | undefined,
  ) {
    this.#mailbox = mailboxOf(thread);
    this.#lease = lease;
    this.#open = open;
  }

  /** Reads the messages that wait. */
  async pending(): Promise<readonly Message[]> {
    const messages = await this.#mailbox.pending();
    this.#known = { waiting: this.#mailbox.waiting, messages };
    return messages;
  }

  /** Returns the messages that wait, without reading if none has come since the last look, as far as the store knows. */
  async glance(): Promise<readonly Message[]> {
    return this.#mailbox.waiting === this.#known.waiting ? this.#known.messages : this.pending();
  }

  /** Answers a wait by the oldest signal of its name. Returns false if there is none. */
  async takeSignal(level: GraphLevel, position: Position, stop: Stop): Promise<boolean> {
    const messages = await this.pending();
    const message = messages.find(
      ({ id, kind, name }) => kind === kinds.signal && name === stop.signal && !this.#taken.has(id),
    );
    if (message === undefined) return false;
    this.#taken.add(message.id);
    await this.#use(level, position, stop.id, message.payload, message.id);
    return true;
  }

  /**
   * Answers the open stops of a position by the messages that wait. Returns true if any was answered. Messages know questions of
   * a nested graph by the ids that its outer graph gives them: they are answered there.
   */
  async answerStops(level: GraphLevel, position: Position): Promise<boolean> {
    const messages = await this.pending();
    let answered = false;
    for (const stop of openStops(position)) {
      if (level.outer !== undefined && isQuestion(stop)) continue;
      const message = messages.find((each) => !this.#taken.has(each.id) && wouldAnswer(each, stop, position.run));
      if (message === undefined) continue;
      this.#taken.add(message.id);
      const value = isQuestion(stop) ? (message.payload as AnswerPayload).value : message.payload;
      await this.#use(level, position, stop.id, value, message.id);
      answered = true;
    }
    return answered;
  }

  /** Stores the default of a question whose time is up, unless an answer has come: then the answer counts. */
  async timeUp(level: GraphLevel, position: Position, stop: Stop): Promise<void> {
    const id = answerMessageId(position.run, stop.id);
    const payload: AnswerPayload = { run: position.run, question: stop.id, value: stop.otherwise };
    // Sent like any other answer, so that of two answers the first counts.
    const { stored } = await this.#mailbox.send({ id, kind: kinds.answer, payload });
    const message = stored ? undefined : (await this.pending()).find((each) => each.id === id);
    const value = message === undefined ? stop.otherwise : (message.payload as AnswerPayload).value;
    await this.#use(level, position, stop.id, value, id);
  }

  /** Gives an answer that `resume` was called with. Returns false if the question was answered before. */
  async give(level: GraphLevel, position: Position, question: string, value: unknown): Promise<boolean> {
    const id = answerMessageId(position.run, question);
    const payload: AnswerPayload = { run: position.run, question, value };
    if (!(await this.#mailbox.send({ id, kind: kinds.answer, payload })).stored) {
      // A call that failed after this message was sent may have given just this answer.
      const given = (await this.pending()).find((message) => message.id === id);
      if (given === undefined || !sameValue((given.payload as AnswerPayload).value, value)) return false;
    }
    this.#taken.add(id);
    await this.#use(level, position, question, value, id);
    return true;
  }

  /** Returns the message that asks to cancel a run, if there is one. */
  async cancellation(run: string, look: "glance" | "pending"): Promise<Message | undefined> {
    const messages = await (look === "glance" ? this.glance() : this.pending());
    return messages.find(({ kind, payload }) => kind === kinds.cancel && (payload as CancelPayload).run === run);
  }

  /** Drops messages that nothing can use any more: answers to questions that are not open, cancellations of other runs. */
  async dropStale(position: Position): Promise<void> {
    if (this.#mailbox.waiting === 0) return;
    const open = new Set(openStops(position).map(({ id }) => id));
    const stale = (await this.glance()).filter(({ kind, payload }) => {
      if (kind === kinds.cancel) return (payload as CancelPayload).run !== position.run;
      if (kind !== kinds.answer) return false;
      const { run, question } = payload as AnswerPayload;
      return run !== position.run || !open.has(question);
    });
    const ids = stale.map(({ id }) => id).filter((id) => !this.#taken.has(id));
    if (ids.length > 0) await this.#mailbox.discard(ids, this.#leased());
  }

  async #use(level: GraphLevel, position: Position, stop: string, value: unknown, message: string): Promise<void> {
    try {
      const id = (await ensureStored(level, position)) as string;
      const thread = this.#open(level.namespace) as Thread<Values>;
      const write = { task: stop, node: null, writes: [answerWrite(value)] };
      await mailboxOf(thread).putWrites(id, write, { ...this.#leased(), consume: [message] });
    } catch (error) {
      throw error instanceof StorageFailure ? error : new StorageFailure(error);
    }
    position.progress.answers.set(stop, value);
  }

  #leased(): { lease?: LeaseToken } {
    return this.#lease === undefined ? {} : { lease: this.#lease };
  }
}

/** Tells whether a message answers a stop of a run. */
export function wouldAnswer({ kind, name, payload }: Message, stop: Stop, run: string | null): boolean {
  if (stop.kind === "signal") return kind === kinds.signal && name === stop.signal;
  if (!isQuestion(stop) || kind !== kinds.answer) return false;
  const answer = payload as AnswerPayload;
  return answer.run === run && answer.question === stop.id;
}
