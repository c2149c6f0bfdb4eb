import type { KnownClass } from "./classes.ts";
import {
  type Fields,
  isUnchanged,
  type MessageLayout,
  type MessageNode,
  type MessageSnapshot,
  takeSnapshot,
} from "./message-snapshot.ts";

/** Lists with fewer messages are converted one by one. */
const shortestList = 16;
/** The number of messages at the end of a list among which the last message of its earlier version is looked for. */
const mostAdded = 8;

/**
 * Remembers the nodes of messages, so that a step converts only new and changed messages of a long conversation, and the
 * store meets the very nodes it met before. It buys a third of a step's time at 1,000 messages.
 *
 * Invariant: a node is recalled only if converting the message anew would give an equal node. Messages are changed in place,
 * so that a message's identity proves nothing: its snapshot holds everything that the conversion read, and all of it is
 * compared at every recall.
 *
 * Invariant: a remembered node is frozen to its leaves, because states and the store share it.
 */
export class KnownMessages {
  readonly #snapshots = new WeakMap<object, MessageSnapshot>();
  /** Rows by the last message of each, and so forgotten with it. */
  readonly #rows = new WeakMap<object, MessageRow>();

  /** Remembers a message's node if the message is plain data. Returns the node to use: a frozen copy if it is remembered. */
  remember(message: Fields, known: KnownClass, node: MessageNode): MessageNode {
    const snapshot = takeSnapshot(message, known, node);
    if (snapshot === undefined) return node;
    this.#snapshots.set(message, snapshot);
    return snapshot.node;
  }

  /** Returns the remembered node of a message, or undefined if there is none or the message has changed. */
  recall(message: object, trusted = false): MessageNode | undefined {
    return this.unchanged(message, trusted)?.node;
  }

  /**
   * Returns the snapshot of a message, or undefined if there is none or the message has changed. With `trusted`, a known
   * message is taken to be unchanged.
   */
  unchanged(message: object, trusted = false): MessageSnapshot | undefined {
    const snapshot = this.#snapshots.get(message);
    if (snapshot === undefined || trusted) return snapshot;
    const { layout, kwargs, values } = snapshot;
    return isUnchanged(message as Fields, kwargs, layout, values, 0, values.length) ? snapshot : undefined;
  }

  /** Returns the row of an earlier version of a list, or a new row; undefined for a short list. */
  takeRow(list: readonly unknown[]): MessageRow | undefined {
    const { length } = list;
    if (length < shortestList) return undefined;
    for (let index = length - 1; index >= length - mostAdded; index--) {
      const last = list[index] as object;
      const row = this.#rows.get(last);
      if (row === undefined) continue;
      // A list inside this list may end with the same message, and must not get the row while it is in use.
      this.#rows.delete(last);
      return row;
    }
    return new MessageRow(this);
  }

  /** Keeps the snapshot of a message that leaves its row, unless there is one. */
  keep(message: object, snapshot: () => MessageSnapshot): void {
    if (!this.#snapshots.has(message)) this.#snapshots.set(message, snapshot());
  }

  /** Keeps a row for the next version of its list. */
  keepRow(row: MessageRow): void {
    if (row.last !== undefined && row.nodes.length > 0) this.#rows.set(row.last, row);
  }
}

/**
 * The snapshots of the messages at the start of a list, laid out one after the other: a long conversation does not fit into
 * the processor's nearest caches, and memory that is read in order is fetched ahead.
 */
export class MessageRow {
  /** The nodes of the messages, in order. Invariant: an element never changes, so that others may hold the list and a count. */
  #nodes: MessageNode[] = [];
  /** The messages themselves, in order. */
  readonly #messages: object[] = [];
  /** For each message: the message, its `lc_kwargs`, its layout, the number of its values, and the values. */
  readonly #cells: unknown[] = [];
  readonly #known: KnownMessages;
  #last: object | undefined;

  constructor(known: KnownMessages) {
    this.#known = known;
  }

  get last(): object | undefined {
    return this.#last;
  }

  get nodes(): readonly MessageNode[] {
    return this.#nodes;
  }

  /** Returns how many messages at the start of a list are those of the row, and unchanged. Drops the others from the row. */
  recall(list: readonly unknown[], trusted = false): number {
    if (trusted && this.#isStartOf(list)) return this.#messages.length;
    const cells = this.#cells;
    let cell = 0;
    let count = 0;
    while (cell < cells.length) {
      const message = cells[cell] as Fields;
      if (message !== list[count]) break;
      const first = cell + 4;
      const end = first + (cells[cell + 3] as number);
      if (!isUnchanged(message, cells[cell + 1] as Fields, cells[cell + 2] as MessageLayout, cells, first, end)) break;
      cell = end;
      this.#last = message;
      count++;
    }
    if (count < this.#nodes.length) {
      this.#release(cell, count);
      cells.length = cell;
      this.#nodes = this.#nodes.slice(0, count);
      this.#messages.length = count;
    }
    return count;
  }

  /** Remembers messages outside the row, since they may only have moved: those from `count` on, whose cells begin at `start`. */
  #release(start: number, count: number): void {
    const cells = this.#cells;
    let cell = start;
    for (let index = count; index < this.#nodes.length; index++) {
      const [first, end] = [cell + 4, cell + 4 + (cells[cell + 3] as number)];
      const [message, kwargs, layout] = cells.slice(cell, first) as [object, Fields, MessageLayout];
      const node = this.#nodes[index] as MessageNode;
      this.#known.keep(message, () => ({ layout, kwargs, node, values: cells.slice(first, end) }));
      cell = end;
    }
  }

  #isStartOf(list: readonly unknown[]): boolean {
    const messages = this.#messages;
    for (let index = 0; index < messages.length; index++) if (messages[index] !== list[index]) return false;
    return true;
  }

  /** Adds the message behind those of the row. */
  add(message: object, { layout, kwargs, values, node }: MessageSnapshot): void {
    this.#cells.push(message, kwargs, layout, values.length, ...values);
    this.#nodes.push(node);
    this.#messages.push(message);
    this.#last = message;
  }
}

/** The messages that this process has converted. */
export const knownMessages: KnownMessages = new KnownMessages();
