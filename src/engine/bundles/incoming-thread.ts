import { damaged } from "../../codec/bundle.ts";
import { type Delta, validate } from "../../codec/delta/index.ts";
import { isObject, type Json } from "../../codec/json.ts";
import { hasTags } from "../../codec/values/depth.ts";
import type { ValueCodec } from "../../codec/values/value.ts";
import { checkId, checkNamespace, namespaceKey } from "../../model/address.ts";
import { type Attributes, withAttributes } from "../../model/attributes.ts";
import { LAST_IMPORTED_SEQ } from "../../model/seq.ts";
import { checkAttributes } from "../../model/validation/attributes.ts";
import { checkMessage } from "../../model/validation/mail.ts";
import { checkMetadataFields } from "../../model/validation/put.ts";
import { checkWritesInput } from "../../model/validation/writes.ts";
import { isUsed, type MailEntry } from "../records/mail.ts";
import { fromRecord, type Row, type RowRecord } from "../records/row.ts";
import type { BundleRecord } from "./bundle-record.ts";
import { BundledValues } from "./bundled-values.ts";

type RecordOf<Kind extends BundleRecord["kind"]> = Extract<BundleRecord, { kind: Kind }>;

export type CheckpointRecord = RecordOf<"checkpoint">;

/**
 * A thread as the lines of a bundle tell it. Anybody can make lines with right checksums: each is held to what `put` and
 * `putWrites` take, by the same checks, and one that does not follow from those before it is refused, with its number.
 */
export class BundledThread {
  readonly id: string;
  readonly createdAt: number;
  readonly attributes: Attributes | undefined;
  /** See `Meta.pruner`. */
  readonly pruner: string | undefined;
  readonly checkpoints: CheckpointRecord[] = [];
  readonly writes: RecordOf<"writes">[] = [];
  readonly mail: MailEntry[] = [];
  readonly #codec: ValueCodec;
  readonly #values = new BundledValues();
  /** Namespaces of checkpoints by seq. */
  readonly #namespaces = new Map<number, string>();
  readonly #ids = new Set<string>();
  /** Checkpoints whose writes may still follow. */
  readonly #withoutWrites = new Set<string>();

  constructor({ id, createdAt, attributes, pruner }: RecordOf<"thread">, codec: ValueCodec, line: number) {
    this.#codec = codec;
    this.id = held(line, () => checkId(id, "A thread id"));
    if (!Number.isFinite(createdAt)) throw damaged(line, "createdAt must be a finite number");
    this.createdAt = createdAt;
    this.attributes = attributes && held(line, () => ownAttributes(attributes));
    this.pruner = pruner === undefined ? undefined : held(line, () => checkId(pruner, "A handler"));
  }

  addValue({ name, value }: RecordOf<"value">, line: number): void {
    if (typeof name !== "string" || value === undefined) throw damaged(line, "its large value has no name or no value");
    this.#values.add(name, value);
  }

  addCheckpoint(told: CheckpointRecord, line: number): void {
    const record = held(line, () => ({ ...told, change: this.#values.resolve(told.change) }));
    const { seq, row, change } = record;
    if (!Number.isSafeInteger(seq) || !(seq > (this.checkpoints.at(-1)?.seq ?? 0))) {
      throw damaged(line, "its checkpoint stands in the wrong place");
    }
    if (seq > LAST_IMPORTED_SEQ) throw damaged(line, `its seq is greater than ${LAST_IMPORTED_SEQ}`);
    held(line, () => this.#checkRow(row));
    held(line, () => validate(change as Json));
    const namespace = row.namespace ?? "";
    this.#checkBefore(row.parent, namespace, line, "the parent of its checkpoint");
    this.#checkBefore(row.base, namespace, line, "what its checkpoint builds on");
    const name = JSON.stringify([namespace, row.id]);
    if (this.#ids.has(name)) throw damaged(line, "the id of its checkpoint stands twice");
    const tagged = held(line, () => hasTags(change as Json) || hasTags(row.metadata ?? null));
    this.checkpoints.push(tagged ? { ...record, row: { ...row, tagged } } : record);
    this.#namespaces.set(seq, namespace);
    this.#ids.add(name);
    this.#withoutWrites.add(name);
  }

  #checkBefore(seq: number | undefined, namespace: string, line: number, what: string): void {
    if (seq !== undefined && this.#namespaces.get(seq) !== namespace) {
      throw damaged(line, `${what} does not stand before it`);
    }
  }

  #checkRow(row: RowRecord): void {
    if (!isObject(row as unknown as Json)) throw new TypeError("The row of its checkpoint must be an object.");
    const { id, step, createdAt, namespace = "", pending = 0, waiting = 0, questions, tagged, metadata = null } = row;
    if (id === undefined || step === undefined || createdAt === undefined) {
      throw new TypeError("Its checkpoint lacks an id, a step or a time.");
    }
    checkNamespaceKey(namespace);
    for (const count of [pending, waiting]) {
      if (!Number.isSafeInteger(count) || count < 0) throw new TypeError("pending and waiting must be counts.");
    }
    const isList = questions === undefined || (Array.isArray(questions) && questions.length === waiting);
    if (!isList || !(questions ?? []).every((one) => typeof one === "string")) {
      throw new TypeError("questions must be the ids of those that wait.");
    }
    if (tagged !== undefined && tagged !== true) throw new TypeError("tagged must be true, where it is there.");
    hasTags(metadata);
    const { metadata: _encoded, questions: _questions, ...fields } = row;
    checkMetadataFields({ ...fields, ...(metadata !== null && { metadata: this.#codec.decode(metadata) }) });
  }

  addWrites(record: RecordOf<"writes">, line: number): void {
    if (!this.#withoutWrites.delete(JSON.stringify([record.namespace, record.checkpoint]))) {
      throw damaged(line, "its writes stand before their checkpoint, in another thread, or twice");
    }
    const told = held(line, () => ({ ...record, writes: this.#values.resolve(record.writes as unknown as Json) }));
    const resolved = told as unknown as RecordOf<"writes">;
    held(line, () => this.#checkWrites(resolved));
    this.writes.push(resolved);
  }

  #checkWrites({ writes }: RecordOf<"writes">): void {
    if (!Array.isArray(writes)) throw new TypeError("writes must be an array.");
    const seen = new Set<string>();
    for (const write of writes as readonly RecordOf<"writes">["writes"][number][]) {
      if (!isObject(write as unknown as Json)) throw new TypeError("A write must be an object.");
      const { task, node, index, channel, value, at } = write;
      if (at !== undefined && !Number.isFinite(at)) throw new TypeError("The time of a write must be a finite number.");
      checkWritesInput({ task, node, writes: [{ channel, index, value }] });
      if (index === undefined || value === undefined) throw new TypeError("A write lacks its index or its value.");
      hasTags(value);
      this.#codec.decode(value);
      const name = JSON.stringify([task, index]);
      if (seen.has(name)) throw new TypeError(`Task ${JSON.stringify(task)} has two writes with the index ${index}.`);
      seen.add(name);
    }
  }

  addMessage({ message }: RecordOf<"mail">, line: number): void {
    held(line, () => checkMailEntry(message, this.#codec));
    if (this.mail.some(({ id }) => id === message.id)) throw damaged(line, "the id of its message stands twice");
    this.mail.push(message);
  }

  /** Checks that all is there. Bundles of earlier versions do not say how many checkpoints have writes. */
  checkEnd({ id, checkpoints, writes = this.writes.length, mail = 0 }: RecordOf<"end">, line: number): void {
    if (this.id !== id || this.checkpoints.length !== checkpoints) {
      throw damaged(line, "the thread's checkpoints are not all there");
    }
    if (checkpoints === 0) throw damaged(line, "the thread has no checkpoints");
    if (this.writes.length !== writes) throw damaged(line, "the thread's writes are not all there");
    if (this.mail.length !== mail) throw damaged(line, "the thread's messages are not all there");
  }

  /** The rows with their changes, oldest first. */
  *rows(): Generator<{ readonly row: Row; readonly change: Delta }> {
    for (const { seq, row, change } of this.checkpoints) yield { row: fromRecord(seq, row), change };
  }
}

function ownAttributes(attributes: unknown): Attributes | undefined {
  checkAttributes(attributes);
  return withAttributes(undefined, attributes);
}

function checkMailEntry(message: MailEntry, codec: ValueCodec): void {
  if (!isObject(message as unknown as Json)) throw new TypeError("A message must be an object.");
  checkId(message.id, "The id of a message");
  if (!Number.isFinite(message.at)) throw new TypeError("at must be a finite number.");
  if (isUsed(message)) {
    if (!Number.isSafeInteger(message.used)) throw new TypeError("used must be a seq.");
    return;
  }
  const { id, kind, name, payload } = message;
  checkMessage({ id, kind, name });
  if (payload === undefined) throw new TypeError("A message lacks its payload.");
  hasTags(payload);
  codec.decode(payload);
}

function checkNamespaceKey(key: unknown): void {
  if (key === "") return;
  let parts: readonly string[] | undefined;
  try {
    parts = checkNamespace(JSON.parse(key as string));
  } catch (error) {
    if (error instanceof TypeError) throw error;
  }
  if (!parts || parts.length === 0 || namespaceKey(parts) !== key) throw new TypeError("Its namespace is none.");
}

/** Names the line where a check refuses something. */
function held<T>(line: number, check: () => T): T {
  try {
    return check();
  } catch (error) {
    throw damaged(line, error instanceof Error ? error.message.replace(/\.$/, "") : String(error), error);
  }
}
