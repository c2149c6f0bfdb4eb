import { parseNamespaceKey } from "../../../model/address.ts";
import type { ChangeKind, WatchedChange } from "../../../model/interface/watched-changes.ts";
import type { Row } from "../../records/row.ts";
import type { LoggedChange, LogRecord } from "../../records/store-wide/log.ts";
import { encodeCursor, type FollowedSeq, type WatchState } from "./cursor.ts";
import { type Followed, nameOf } from "./followed-rows.ts";

/** The changes of one call, each with a cursor that is made when it is first asked for: it names all followed tapes. */
export class ToldChanges {
  readonly changes: WatchedChange[] = [];
  readonly #filter: string;
  readonly #before: readonly FollowedSeq[];
  readonly #rows: FollowedSeq[] = [];

  constructor(filter: string, before: readonly FollowedSeq[]) {
    this.#filter = filter;
    this.#before = before;
  }

  addLine({ thread }: LogRecord, change: LoggedChange, position: string, skip: number): void {
    const [kind, namespace, id, last, seq = last] = change;
    this.#add({ kind: kind as ChangeKind, thread, namespace: parseNamespaceKey(namespace), id, seq }, position, skip);
  }

  /** Adds a new row. Without `told`, it only counts as told: the filter leaves it out. */
  addRow(
    { lineage, tape, told: seq }: Followed,
    told:
      | { readonly thread: string; readonly kind: "put" | "writes"; readonly id: string; readonly row: Row }
      | undefined,
    position: string,
    skip: number,
  ): void {
    this.#rows.push([lineage, tape, seq]);
    if (!told) return;
    const { thread, kind, id, row } = told;
    const namespace = parseNamespaceKey(row.namespace);
    this.#add({ kind, thread, namespace, id, seq: kind === "put" ? row.seq : row.seq - 1 }, position, skip);
  }

  #add(change: Omit<WatchedChange, "cursor">, position: string, skip: number): void {
    const rows = this.#rows.length;
    let cursor: string | undefined;
    const make = (): string => {
      cursor ??= encodeCursor(this.#filter, this.#state(position, skip, rows));
      return cursor;
    };
    this.changes.push(Object.defineProperty(change as WatchedChange, "cursor", { enumerable: true, get: make }));
  }

  #state(position: string, skip: number, rows: number): WatchState {
    const told = new Map(this.#before.map((entry) => [nameOf({ lineage: entry[0], tape: entry[1] }), entry]));
    for (const entry of this.#rows.slice(0, rows)) told.set(nameOf({ lineage: entry[0], tape: entry[1] }), entry);
    return { position, skip, followed: [...told.values()] };
  }
}
