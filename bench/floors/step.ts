import { createValueCodec } from "../../src/codec/values/value.ts";
import { toStored } from "../../src/langgraph/values/to-stored.ts";
import type { State, Step } from "../workloads/workload.ts";
import { GuardedTable } from "./guarded-table.ts";
import { recordOf, wrapped } from "./put.ts";

/** The parts that no step through a saver can do without, each measured with all parts before it. */
export const stepParts = [
  "the record of the checkpoint and its writes, and the check that nobody else moved the head, in one statement",
  "the stored form of its messages, JSON and CRC-32",
  "the walk that refuses what cannot be stored, and the copy, of the writes and of the checkpoint",
  "a promise for the writes and one for the checkpoint, and a turn in which the two meet",
  "the look at every message of the state for a change in place, written out for its classes",
] as const;

type Fields = Record<string, unknown>;

/** The fields of a message as it was last stored. */
interface Seen {
  readonly message: Fields;
  readonly names: readonly string[];
  readonly content: unknown;
  readonly id: unknown;
  readonly kwargs: Fields;
  readonly kwargsNames: readonly string[];
}

/** Steps by hand, for one thread that nobody else uses: no branches, no packs, no history, nothing that could be asked for. */
export class LeanSteps {
  readonly #parts: number;
  readonly #table: GuardedTable;
  readonly #codec = createValueCodec();
  readonly #seen: Seen[] = [];
  readonly #names = new Map<string, readonly string[]>();
  #seq = 0;

  /** Does the first so many of {@link stepParts}. */
  constructor(file: string, parts: number) {
    this.#parts = parts;
    this.#table = new GuardedTable(file);
  }

  async step(step: Step): Promise<void> {
    if (this.#parts < 4) {
      this.#write(step, this.#stored(step));
      return;
    }
    const stored = new Promise<string>((resolve) => {
      void Promise.resolve().then(() => resolve(this.#stored(step)));
    });
    await Promise.all([stored, this.#put(step, stored)]);
  }

  close(): void {
    this.#table.close();
  }

  async #put(step: Step, stored: Promise<string>): Promise<void> {
    this.#write(step, await stored);
  }

  #write(step: Step, writes: string): void {
    if (this.#parts >= 5) this.#look(step.state);
    this.#seq += 1;
    const record = recordOf(this.#seq, this.#parts < 2 ? step.changed : this.#bookkeeping(writes));
    const value = this.#parts < 2 ? `1j00000000${record}` : wrapped(record);
    this.#table.insert(this.#seq, value);
  }

  /** Returns the JSON of what the step changes. */
  #stored({ update: { append, set }, changed }: Step): string {
    if (this.#parts < 2) return changed;
    const change = toStored({ ...append, ...set });
    return JSON.stringify(this.#parts < 3 ? change : this.#codec.encode(change, "writes").tree);
  }

  /** Returns the JSON of a change with what LangGraph notes of a checkpoint besides its channels. */
  #bookkeeping(change: string): string {
    const seq = this.#seq;
    const noted = { versions: { messages: seq, turn: seq, "branch:to:agent": seq }, seen: { agent: seq - 1 }, v: 4 };
    const kept = this.#parts < 3 ? noted : this.#codec.encode(noted, "state").tree;
    return `{"s":${JSON.stringify(kept)},"d":${change}}`;
  }

  /** Finds out whether any message that was there before has changed, and remembers the new ones. */
  #look({ messages }: State): void {
    const list = messages as readonly Fields[] | undefined;
    if (list === undefined) return;
    const seen = this.#seen;
    for (let index = 0; index < seen.length; index += 1) {
      if (!isUnchanged(list[index] as Fields, seen[index] as Seen)) throw new Error("A message has changed.");
    }
    for (const message of list.slice(seen.length)) {
      const { content, id, lc_kwargs } = message;
      const kwargs = lc_kwargs as Fields;
      const [names, kwargsNames] = [this.#shared(Object.keys(message)), this.#shared(Object.keys(kwargs))];
      seen.push({ message, names, content, id, kwargs, kwargsNames });
    }
  }

  /** Returns the same list for the same names, so that it stays in the nearest cache. */
  #shared(names: readonly string[]): readonly string[] {
    const key = names.join();
    const known = this.#names.get(key) ?? names;
    this.#names.set(key, known);
    return known;
  }
}

/** Compares all that a HumanMessage or an AIMessage without name and tool calls holds. */
function isUnchanged(message: Fields, { message: before, names, content, id, kwargs, kwargsNames }: Seen): boolean {
  return (
    message === before &&
    hasNames(message, names) &&
    message["content"] === content &&
    message["id"] === id &&
    message["name"] === undefined &&
    message["usage_metadata"] === undefined &&
    isEmpty(message["additional_kwargs"]) &&
    isEmpty(message["response_metadata"]) &&
    isEmpty(message["tool_calls"]) &&
    isEmpty(message["invalid_tool_calls"]) &&
    message["lc_kwargs"] === kwargs &&
    hasNames(kwargs, kwargsNames) &&
    kwargs["content"] === content &&
    kwargs["id"] === id
  );
}

function hasNames(value: Fields, names: readonly string[]): boolean {
  let count = 0;
  for (const name in value) if (name !== names[count++]) return false;
  return count === names.length;
}

function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  for (const _ in value as object | undefined) return false;
  return true;
}
