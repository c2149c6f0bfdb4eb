import type { Entry, Key, Value } from "../../backend.ts";
import type { Json } from "../../codec/json.ts";
import { ThreadmarkError } from "../../errors.ts";
import type { LeaseToken } from "../../model/interface/options.ts";
import { ALONE, type Draft } from "../commits/draft/draft.ts";
import { type MovedMail, mailRecords } from "../commits/moved-mail.ts";
import type { ThreadChange } from "../commits/thread-change.ts";
import { threadNotFound } from "../faults/missing.ts";
import type { Tape } from "../memory/tape.ts";
import { decodeMail, encodeMail, isUsed, type MailEntry, mailKey } from "../records/mail.ts";
import { checkRecord } from "../records/size-limits.ts";
import { checkLease } from "./lease.ts";

/*
 * The mailbox of a thread. Invariant: every commit that adds or uses a message also changes the meta record, where the
 * messages are counted. So a plan that was made on fewer or other messages is refused, and planned again.
 */

/** A message, encoded in the call itself. */
export interface CapturedMessage {
  readonly id: string;
  readonly kind: string;
  readonly name: string | undefined;
  readonly payload: Json;
  /** True if the message is kept for a thread that does not exist yet. */
  readonly early: boolean;
}

export interface SentMessage {
  readonly id: string;
  /** False if the thread already had a message of this id. */
  readonly stored: boolean;
  /** True if that message was used before. */
  readonly used: boolean;
}

/** Adds a message to a thread, whoever holds its lease. A message of an id that the thread knows is ignored. */
export function sendChange({ id, kind, name, payload, early }: CapturedMessage): ThreadChange<SentMessage> {
  return {
    plan: async (draft) => {
      if (!draft.target && !early) throw threadNotFound(draft.thread);
      const known = draft.existing;
      const tape = await draft.tape();
      const key = mailKey(tape, id);
      const moved = takeMoved(draft, tape, key);
      if (moved.length === 0 && isPlanned(draft, key)) throw ALONE;
      // The first plan takes the message to be new: the commit finds out.
      const before = known && draft.fresh ? await recordAt(draft, key) : undefined;
      const entries = before === undefined ? moved : decodeMail(before);
      const there = entries.find((entry) => entry.id === id);
      if (there) return { id, stored: false, used: isUsed(there) };
      const { last, pending } = draft.meta?.mail ?? { last: 0, pending: 0 };
      const at = draft.context.clock();
      const message = { id, number: last + 1, kind, ...(name !== undefined && { name }), payload, at };
      addRecord(draft, key, before, [...entries, message]);
      draft.tell("mail", "", id);
      draft.change({ mail: { last: last + 1, pending: pending + 1 } });
      return { id, stored: true, used: false };
    },
  };
}

/** Uses messages up in the commit of another change, after its plan: both are committed, or neither. */
export function consuming<T>(change: ThreadChange<T>, ids: readonly string[]): ThreadChange<T> {
  return {
    ...(change.fresh !== undefined && { fresh: change.fresh }),
    plan: async (draft) => {
      const result = await change.plan(draft);
      await consume(draft, ids);
      return result;
    },
    settled: () => change.settled?.(),
  };
}

/** Uses messages up without a checkpoint, as for an answer that came too late. */
export function discardChange(ids: readonly string[], lease: LeaseToken | undefined): ThreadChange<void> {
  return {
    plan: async (draft) => {
      if (lease) checkLease(draft, lease);
      await consume(draft, ids);
    },
  };
}

/** Puts the mark of a used message in place of each. Throws `NOT_FOUND` and `CONFLICT` for those that do not wait. */
async function consume(draft: Draft, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const tape = draft.target;
  if (!tape) throw threadNotFound(draft.thread);
  const byKey = new Map<
    string,
    { readonly key: Key; readonly ids: Set<string>; readonly moved: readonly MailEntry[] }
  >();
  for (const id of ids) {
    const key = mailKey(tape, id);
    const name = `${key.item}:${key.part}`;
    const record = byKey.get(name) ?? { key, ids: new Set(), moved: takeMoved(draft, tape, key) };
    if (record.moved.length === 0 && isPlanned(draft, key)) throw ALONE;
    byKey.set(name, record);
    record.ids.add(id);
  }
  const records = [...byKey.values()];
  const found = draft.created ? [] : await draft.context.read(records.map(({ key }) => ({ get: key })));
  const used = draft.planned.at(-1)?.tail.row.seq ?? tape.lastSeq;
  const at = draft.context.clock();
  let count = 0;
  for (const [index, { key, ids: wanted, moved }] of records.entries()) {
    const before = found[index] as Value | undefined;
    const entries = before === undefined ? moved : decodeMail(before);
    for (const id of wanted) checkWaits(draft.thread, id, entries);
    addRecord(
      draft,
      key,
      before,
      entries.map((entry) => (wanted.has(entry.id) ? { id: entry.id, used, at } : entry)),
    );
    count += wanted.size;
  }
  const { last, pending } = draft.meta?.mail ?? { last: 0, pending: 0 };
  draft.change({ mail: { last, pending: pending - count } });
}

function checkWaits(thread: string, id: string, entries: readonly MailEntry[]): void {
  const entry = entries.find((other) => other.id === id);
  if (entry && !isUsed(entry)) return;
  const message = `Thread ${JSON.stringify(thread)}: message ${JSON.stringify(id)}`;
  throw entry
    ? new ThreadmarkError("CONFLICT", `${message} was used already. Read the pending messages and decide again.`, {
        thread,
      })
    : new ThreadmarkError("NOT_FOUND", `${message} was never sent, or long ago.`, { thread });
}

/** Adds messages to a tape that has none yet. The caller puts their count into its meta record. */
export function insertMail(draft: Draft, tape: Tape, { entries }: MovedMail): void {
  for (const { key, value } of mailRecords(tape, entries)) {
    checkRecord(draft.context, draft.thread, value, "the message");
    draft.weigh(value);
    draft.batch.insert(key, value);
  }
}

/**
 * Takes the messages at a key over that the draft's new tape begins with: they are not read from the store, but planned.
 * The next record at the key has them.
 */
function takeMoved(draft: Draft, tape: Tape, key: Key): readonly MailEntry[] {
  const isThere = ({ id }: MailEntry): boolean => isSameRecord(mailKey(tape, id), key);
  const taken = draft.moved.filter(isThere);
  if (taken.length > 0) draft.moved = draft.moved.filter((entry) => !isThere(entry));
  return taken;
}

function addRecord(draft: Draft, key: Key, before: Value | undefined, entries: readonly MailEntry[]): void {
  const value = encodeMail(entries);
  checkRecord(draft.context, draft.thread, value, "the message");
  draft.weigh(value);
  if (before === undefined) draft.batch.insert(key, value);
  else {
    draft.batch.check(key, before);
    draft.batch.put(key, value);
  }
}

async function recordAt(draft: Draft, key: Key): Promise<Value | undefined> {
  const [value] = await draft.context.read([{ get: key }]);
  return value as Value | undefined;
}

/** Returns true if an earlier plan of the draft has written the record: nothing can be planned on it before the commit. */
function isPlanned({ batch }: Draft, key: Key): boolean {
  const isIt = ({ key: other }: Entry): boolean => other.table === "mail" && isSameRecord(other, key);
  return batch.inserts.some(isIt) || batch.puts.some(isIt);
}

function isSameRecord(left: Key, right: Key): boolean {
  return left.item === right.item && left.part === right.part;
}
