import { encryptedStore } from "../../../codec/envelope.ts";
import type { ChangeKind } from "../../../model/interface/watched-changes.ts";

/** Watchers follow a thread for this many milliseconds after they have read that it is active. */
export const FOLLOWED = 10_000;

/**
 * A change as a line of the log tells it: its kind, namespace, the id it is about, the thread's last seq at that moment, and
 * the seq of the checkpoint it is about, where that is another one.
 *
 * `active` is no change: it says that rows were added from this seq on, and that more may follow without a line.
 */
export type LoggedChange = readonly [
  kind: ChangeKind | "active",
  namespace: string,
  id: string | null,
  last: number,
  seq?: number,
];

/** A line of the log: changes of one thread that one commit made, in order. */
export interface LogRecord {
  readonly thread: string;
  readonly lineage: number;
  readonly tape: number;
  /** The thread's workflow; absent where it was not at hand. */
  readonly workflow?: string | null;
  readonly changes: readonly LoggedChange[];
}

/** Changes in one line: a line is held in memory by every watcher, and takes up to 16 KB. */
const CHANGES = 16;

/** The most characters that the changes of a line take together, unless it is a single one. */
const CHARACTERS = 2_000;

/** Returns the texts of the lines for a commit's changes. */
export function encodeLines({ changes, ...about }: LogRecord): readonly string[] {
  const lines: string[] = [];
  let part: LoggedChange[] = [];
  let characters = 0;
  const end = (): void => {
    if (part.length > 0) lines.push(JSON.stringify({ ...about, changes: part }));
    part = [];
    characters = 0;
  };
  for (const change of changes) {
    const [, namespace, id] = change;
    const length = namespace.length + (id?.length ?? 0);
    if (part.length === CHANGES || characters + length > CHARACTERS) end();
    part.push(change);
    characters += length;
  }
  end();
  return lines;
}

export function decodeLine(text: string): LogRecord {
  // The store was opened without its keys.
  if (!text.startsWith("{")) throw encryptedStore();
  return JSON.parse(text) as LogRecord;
}
