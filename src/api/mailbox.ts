import { consuming, discardChange, type SentMessage, sendChange } from "../engine/changes/mail.ts";
import { captureLease, capturePut } from "../engine/changes/put/capture.ts";
import { PutChange } from "../engine/changes/put/plan.ts";
import { writesChange } from "../engine/changes/writes.ts";
import { captureWrites } from "../engine/changes/writes-capture.ts";
import { knownToWait, type Message, pendingMessages } from "../engine/reads/mail.ts";
import { checkId } from "../model/address.ts";
import type { CheckpointInfo } from "../model/checkpoint.ts";
import type { PutInput, PutOptions, WritesInput, WritesOptions } from "../model/interface/options.ts";
import type { WritesResult } from "../model/interface/results.ts";
import { checkBoolean, checkIds, checkOptions } from "../model/validation/checks.ts";
import { checkMessage } from "../model/validation/mail.ts";
import { checkPutInput, checkPutOptions } from "../model/validation/put.ts";
import { checkWritesInput, checkWritesOptions } from "../model/validation/writes.ts";
import type { Handle } from "./handle.ts";
import { handleOf } from "./readable-thread.ts";
import type { Thread } from "./thread.ts";

export type { Message, SentMessage };

/** A message to a thread. */
export interface MessageInput {
  /** A second message of this id is ignored, also after the first was used. @default a random one */
  readonly id?: string;
  /** The use of the message, as in `answer`, `signal` or `cancel`. */
  readonly kind: string;
  readonly name?: string;
  /** Any value that a state may hold. @default undefined */
  readonly payload?: unknown;
}

export interface SendOptions {
  /**
   * True to keep the message for a thread that does not exist yet, instead of failing with `NOT_FOUND`. The thread finds it
   * when it is made: by a put, a fork, a copy or an import.
   *
   * @default false
   */
  readonly early?: boolean;
}

/** The messages that a commit uses up. */
export interface Consumption {
  /** Ids of pending messages. An id that was used already is `CONFLICT`, an id that was never sent `NOT_FOUND`. */
  readonly consume: readonly string[];
}

/**
 * The mailbox of a thread. Any process can send a message, without the thread's lease. The process that advances the thread reads
 * the pending messages, and uses them up in the commit that acts on them. An acknowledged message is neither lost nor used twice.
 *
 * Messages belong to the thread: forks and copies begin without any, `delete` removes them, an export takes them along. Used
 * ones leave a mark, which `compact` removes after seven days; until then a message of the same id is a repetition.
 *
 * @example
 * await mailboxOf(thread).send({ id: "q1", kind: "answer", payload: true });
 * const [message] = await mailboxOf(thread).pending();
 * await mailboxOf(thread).put({ update: { set: { approved: message.payload } } }, { lease, consume: [message.id] });
 */
export class Mailbox<State = unknown> {
  readonly #handle: Handle;

  /** @internal */
  constructor(thread: Thread<State>) {
    this.#handle = handleOf<State>(thread);
  }

  /**
   * Sends a message. It is durable when this resolves. `stored` is false if the thread had a message of this id, and `used`
   * says whether that one was used.
   *
   * @example
   * const { stored } = await mailbox.send({ id: "payment-7", kind: "signal", name: "paid", payload: { amount: 12 } });
   */
  send(message: MessageInput, options: SendOptions = {}): Promise<SentMessage> {
    return this.#handle.attempt(() => {
      checkMessage(message);
      const { early = false } = checkOptions(options, ["early"], "send");
      checkBoolean(early, "early");
      const { id = crypto.randomUUID(), kind, name } = message;
      const payload = this.#handle.context.codec.encode(message.payload, "payload").tree;
      const change = sendChange({ id, kind, name, payload, early: early === true });
      return () => this.#handle.lane.add(change);
    });
  }

  /**
   * Reads the messages that wait to be used, in the order in which they were sent.
   *
   * @example
   * for (const { id, kind, payload } of await mailbox.pending()) console.log(id, kind, payload);
   */
  pending(): Promise<readonly Message[]> {
    const { context, place } = this.#handle;
    return this.#handle.attempt(() => () => pendingMessages(context, place.thread));
  }

  /**
   * Returns how many messages wait, as far as this store knows without reading anything. That is exact as of this store's
   * last commit or read of the thread: a holder that puts or renews its lease need not ask `pending` at each step.
   */
  get waiting(): number {
    const { context, place } = this.#handle;
    return knownToWait(context, place.thread);
  }

  /**
   * Saves a checkpoint like `thread.put`, and uses messages up in its commit: both happen, or neither.
   *
   * @example
   * await mailbox.put({ update: { set: { paid: true } } }, { lease, consume: ["payment-7"] });
   */
  put(input: PutInput<State>, options: PutOptions & Consumption): Promise<CheckpointInfo> {
    const { context, key, lane, place } = this.#handle;
    return this.#handle.attempt(() => {
      const { consume, ...others } = checkOptions(options, ["consume", "parent", "expect", "lease"], "put");
      checkPutInput(input);
      checkPutOptions(others as PutOptions);
      const ids = checkedIds(consume);
      const given = input as PutInput<Record<string, unknown>>;
      const captured = capturePut(context, place.thread, key, given, others as PutOptions);
      return () => lane.add(consuming(new PutChange(captured, place), ids));
    });
  }

  /**
   * Saves a task's results like `thread.putWrites`, and uses messages up in its commit: both happen, or neither.
   *
   * @example
   * await mailbox.putWrites(head.id, { task, writes: [{ channel: "resume", value, index: -4 }] }, { lease, consume: ["q1"] });
   */
  putWrites(id: string, input: WritesInput, options: WritesOptions & Consumption): Promise<WritesResult> {
    const { context, key, lane } = this.#handle;
    return this.#handle.attempt(() => {
      const { consume, ...others } = checkOptions(options, ["consume", "lease"], "putWrites");
      checkId(id, "A checkpoint id");
      checkWritesInput(input);
      checkWritesOptions(others as WritesOptions);
      const ids = checkedIds(consume);
      const change = writesChange(captureWrites(context, key, id, input, (others as WritesOptions).lease));
      return () => lane.add(consuming(change, ids));
    });
  }

  /**
   * Uses messages up without saving anything, as for an answer that came too late.
   *
   * @example
   * await mailbox.discard(["q1"], { lease });
   */
  discard(ids: readonly string[], options: WritesOptions = {}): Promise<void> {
    return this.#handle.attempt(() => {
      const consumed = checkedIds(ids);
      checkWritesOptions(options);
      const lease = captureLease(options.lease);
      return () => this.#handle.lane.add(discardChange(consumed, lease));
    });
  }
}

function checkedIds(ids: unknown): readonly string[] {
  checkIds(ids, "consume", "The id of a message");
  return [...new Set(ids as readonly string[])];
}

/**
 * Returns the mailbox of a thread. For programs that advance threads, as the runtime does.
 *
 * @example
 * const mailbox = mailboxOf(store.thread("user-42"));
 */
export function mailboxOf<State>(thread: Thread<State>): Mailbox<State> {
  return new Mailbox(thread);
}
