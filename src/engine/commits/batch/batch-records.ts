import type { Answer, Backend, Batch, Found, Key, Read, Table, Value } from "../../../backend.ts";
import { ThreadmarkError } from "../../../errors.ts";
import { lowerBound } from "../../../model/seq.ts";

/** The records that a batch will write, as a backend that can be read: so a batch is proved before it is committed. */
export class BatchRecords implements Backend {
  readonly name = "batch";
  readonly capabilities = { durable: false, processes: false };
  readonly #groups = new Map<string, Found[]>();
  readonly #store: Backend;

  /** `store`: where the batch goes. Large values that it refers to may be there already. */
  constructor({ inserts = [], puts = [] }: Batch, store: Backend) {
    this.#store = store;
    for (const { key, value } of [...inserts, ...puts]) {
      if (key.table === "directory") continue;
      const name = nameOf(key);
      const group = this.#groups.get(name);
      const found: Found = { item: key.item, part: key.part, value };
      if (group) group.push(found);
      else this.#groups.set(name, [found]);
    }
    for (const group of this.#groups.values()) {
      group.sort((left, right) => left.item - right.item || left.part - right.part);
    }
  }

  async read(reads: readonly Read[]): Promise<readonly Answer[]> {
    const answers = reads.map((read) => this.#answer(read));
    const stored = reads.flatMap((read, index) => (answers[index] === undefined && isOfValue(read) ? [index] : []));
    if (stored.length === 0) return answers;
    const found = await this.#store.read(stored.map((index) => reads[index] as Read));
    for (const [place, index] of stored.entries()) answers[index] = found[place];
    return answers;
  }

  #answer(read: Read): Answer {
    if ("get" in read) return read.get.table === "directory" ? undefined : this.#get(read.get);
    if (!("scan" in read)) return "tally" in read ? 0 : [];
    const { from = 0, to = Number.POSITIVE_INFINITY } = read.scan;
    const group = this.#groups.get(nameOf(read.scan)) ?? [];
    const [start, end] = [from, to + 1].map((item) => lowerBound(group, item, (found) => found.item));
    const found = group.slice(start, end);
    if (read.reverse) found.reverse();
    return found.slice(0, read.limit);
  }

  #get(key: Key): Value | undefined {
    const group = this.#groups.get(nameOf(key)) ?? [];
    for (let index = lowerBound(group, key.item, (found) => found.item); group[index]?.item === key.item; index += 1) {
      if (group[index]?.part === key.part) return group[index]?.value;
    }
    return undefined;
  }

  commit(): Promise<readonly boolean[]> {
    return refuse();
  }

  size(): ReturnType<Backend["size"]> {
    return refuse();
  }

  compact(): Promise<void> {
    return refuse();
  }

  async verify(): Promise<readonly string[]> {
    return [];
  }

  async close(): Promise<void> {}
}

function isOfValue(read: Read): boolean {
  return "get" in read && read.get.table === "value";
}

function nameOf({ table, group }: { readonly table: Table; readonly group: number }): string {
  return `${table}:${group}`;
}

function refuse(): Promise<never> {
  return Promise.reject(
    new ThreadmarkError("READ_ONLY", "The records of a batch can only be read. Write to the store itself."),
  );
}
