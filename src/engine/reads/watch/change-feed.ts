import type { Answer, LogPage, Read } from "../../../backend.ts";
import { ThreadmarkError } from "../../../errors.ts";
import type { ChangeKind, WatchedChange } from "../../../model/interface/watched-changes.ts";
import { nextTurn } from "../../../platform/turns.ts";
import type { EngineContext } from "../../memory/context.ts";
import { decodeLine, type LoggedChange, type LogRecord } from "../../records/store-wide/log.ts";
import { headOf } from "../../view/find.ts";
import { decodeCursor, encodeCursor } from "./cursor.ts";
import {
  type NewRows,
  nameOf,
  newestSeq,
  newRows,
  type OnFault,
  passOver,
  readsOf,
  readsOfNewest,
} from "./followed-rows.ts";
import { FollowedTapes } from "./followed-tapes.ts";
import { ToldChanges } from "./told-changes.ts";

/** The changes that a watch is for. */
export interface WatchFilter {
  readonly thread: string | undefined;
  readonly workflow: string | undefined;
  readonly kinds: ReadonlySet<ChangeKind> | undefined;
}

/** Lines of the log that are read at once. */
const LINES = 512;

/** Tapes that are looked at in one turn of the event loop when a watch begins. */
const PORTION = 256;

/** Stands in a cursor for the writes that a row carries, which come before the row itself: see {@link Followed}. */
const HALF = 0.5;

/** Lines of so many milliseconds before a watch began are searched for threads that may be active: clocks differ. */
const BEFORE = 60_000;

type PlacedLine = LogRecord & { readonly position: string; readonly text: string };

/** The log and the rows of followed tapes, from one snapshot. */
interface Snapshot {
  readonly page: LogPage;
  readonly lines: readonly PlacedLine[];
  /** Lines that are there, but have no position yet: others may come before them. */
  readonly unsettled: readonly LogRecord[];
  readonly rows: ReadonlyMap<string, NewRows | undefined>;
}

/**
 * The changes of a store in order, from a position on: the lines of its log, and between them the rows of threads that are
 * active (see `commits/announce.ts`).
 *
 * Invariant: of one thread, a change is told after all that were committed before it. A line knows the thread's last seq, so
 * rows up to that seq come before it and later rows after it; rows that may have an unread line before them wait.
 */
export class ChangeFeed {
  readonly #context: EngineContext;
  readonly #filter: WatchFilter;
  readonly #filterName: string;
  readonly #onFault: OnFault;
  #position = "";
  #skip = 0;
  readonly #followed = new FollowedTapes();
  /** Lines that were there before the watch began, but had no position yet: how many of each text are passed over. */
  readonly #earlier = new Map<string, number>();
  /** True if the last call of `next` left changes behind that are there already. */
  more = false;

  private constructor(context: EngineContext, filter: WatchFilter, onFault: OnFault) {
    this.#context = context;
    this.#filter = filter;
    this.#onFault = onFault;
    this.#filterName = nameOfFilter(filter);
  }

  /** Returns a feed that goes on behind a cursor. Throws a TypeError if that is none, or one of another filter. */
  static after(context: EngineContext, filter: WatchFilter, cursor: string, onFault: OnFault = passOver): ChangeFeed {
    const feed = new ChangeFeed(context, filter, onFault);
    const { position, skip, followed } = decodeCursor(feed.#filterName, cursor);
    feed.#position = position;
    feed.#skip = skip;
    for (const [lineage, tape, told] of followed) feed.#followed.follow(lineage, tape, told);
    return feed;
  }

  /** Returns a feed of the changes from now on. */
  static async now(context: EngineContext, filter: WatchFilter): Promise<ChangeFeed> {
    const feed = new ChangeFeed(context, filter, passOver);
    await feed.#begin();
    return feed;
  }

  /** Returns the cursor behind everything told so far. */
  get cursor(): string {
    return encodeCursor(this.#filterName, {
      position: this.#position,
      skip: this.#skip,
      followed: this.#followed.seqs(),
    });
  }

  /** Threads with changes that are committed, but are told later, since others may still come before them. */
  unsettled: readonly string[] = [];

  /** Reads the next changes; none if there are none yet, or only some that others may still come before. */
  async next(): Promise<readonly WatchedChange[]> {
    let snapshot = await this.#read();
    // The rows of a thread that has become active come from the same snapshot as the lines.
    if (this.#followActive(snapshot)) snapshot = await this.#read();
    this.unsettled = snapshot.unsettled.map(({ thread }) => thread);
    return this.#tell(snapshot);
  }

  /** Begins at the end of the log, with the present rows of threads that may get rows without another line. */
  async #begin(): Promise<void> {
    for (let limit = LINES; ; limit *= 8) {
      const [page] = (await this.#context.read([{ log: { after: "", limit, newest: true } }])) as readonly [LogPage];
      const from = this.#context.clock() - BEFORE;
      this.#position = page.end;
      if (page.lines.length === limit && (page.lines[0]?.at ?? 0) >= from) continue;
      for (const { at, text } of page.lines) if (at >= from) this.#followLine(decodeLine(text));
      for (const text of page.unsettled ?? []) {
        this.#followLine(decodeLine(text));
        this.#earlier.set(text, (this.#earlier.get(text) ?? 0) + 1);
      }
      break;
    }
    await this.#passOver();
  }

  /** Takes the rows that are there as told, of some tapes at a time: many threads may be active. */
  async #passOver(): Promise<void> {
    const followed = [...this.#followed];
    for (let from = 0; from < followed.length; from += PORTION) {
      const portion = followed.slice(from, from + PORTION);
      const answers = await this.#context.read(portion.flatMap(([, tape]) => readsOfNewest(tape)));
      for (const [index, [name, tape]] of portion.entries()) {
        const newest = newestSeq(answers.slice(3 * index, 3 * index + 3));
        if (newest === undefined) this.#followed.delete(name);
        else tape.told = Math.max(tape.told, newest);
      }
      await nextTurn();
    }
  }

  async #read(): Promise<Snapshot> {
    const followed = [...this.#followed];
    const reads: Read[] = [{ log: { after: this.#position, limit: LINES } }];
    for (const [, tape] of followed) reads.push(...readsOf(tape));
    const [first, ...others] = await this.#context.read(reads);
    const page = first as LogPage;
    if (page.expired) throw expired();
    const rows = followed.map(([name, tape], index): [string, NewRows | undefined] => {
      return [name, newRows(tape, others.slice(3 * index, 3 * index + 3) as readonly Answer[], this.#onFault)];
    });
    return {
      page,
      lines: page.lines.map(({ position, text }) => ({ position, text, ...decodeLine(text) })),
      unsettled: (page.unsettled ?? []).map(decodeLine),
      rows: new Map(rows),
    };
  }

  /** Follows the threads that lines name as active. Returns true if it did not follow one of them before. */
  #followActive({ lines, unsettled }: Snapshot): boolean {
    let added = false;
    for (const line of [...lines, ...unsettled]) if (this.#followLine(line)) added = true;
    return added;
  }

  #followLine({ thread, lineage, tape, changes }: LogRecord): boolean {
    const active = changes.find(([kind]) => kind === "active");
    if (!active || !this.#wantsRows(thread)) return false;
    return this.#followed.follow(lineage, tape, active[3] - 1);
  }

  #wantsRows(thread: string): boolean {
    const { kinds } = this.#filter;
    return this.#isOf(thread) && (kinds === undefined || kinds.has("put") || kinds.has("writes"));
  }

  #isOf(thread: string): boolean {
    return this.#filter.thread === undefined || this.#filter.thread === thread;
  }

  async #tell(snapshot: Snapshot): Promise<readonly WatchedChange[]> {
    const told = new ToldChanges(this.#filterName, this.#followed.seqs());
    this.more = false;
    for (const line of snapshot.lines) {
      // The thread has become active between two reads: its rows are read with the next changes.
      const name = nameOf(line);
      if (this.#isUnread(line, snapshot)) {
        this.more = true;
        return told.changes;
      }
      const isEarlier = this.#isEarlier(line);
      for (const change of line.changes.slice(this.#skip)) {
        this.#tellRows(told, name, snapshot, change[3]);
        this.#skip += 1;
        if (!isEarlier && (await this.#wants(line, change))) told.addLine(line, change, this.#position, this.#skip);
        if (change[0] === "delete") this.#followed.delete(name);
      }
      this.#position = line.position;
      this.#skip = 0;
    }
    // Behind a full page there may be lines that come before the rows.
    if (snapshot.lines.length === LINES) this.more = true;
    else this.#tellRest(told, snapshot);
    return told.changes;
  }

  /** Tells whether a line was there before the watch began; of equal lines the first ones were. */
  #isEarlier({ text }: PlacedLine): boolean {
    const count = this.#earlier.get(text) ?? 0;
    if (count > 1) this.#earlier.set(text, count - 1);
    else this.#earlier.delete(text);
    return count > 0;
  }

  #isUnread({ thread, changes, ...tape }: LogRecord, { rows }: Snapshot): boolean {
    return changes.some(([kind]) => kind === "active") && this.#wantsRows(thread) && !rows.has(nameOf(tape));
  }

  /** Tells the rows behind the last line, and stops following tapes that are quiet. */
  #tellRest(told: ToldChanges, snapshot: Snapshot): void {
    const held = new Map<string, number>();
    for (const line of snapshot.unsettled) {
      for (const [kind, , , last] of line.changes) {
        if (kind !== "active") held.set(nameOf(line), Math.min(last, held.get(nameOf(line)) ?? last));
      }
    }
    const now = performance.now();
    for (const [name, followed] of this.#followed) {
      const before = followed.told;
      this.#tellRows(told, name, snapshot, held.get(name) ?? Number.POSITIVE_INFINITY);
      if (snapshot.rows.get(name)?.more) this.more = true;
      if (snapshot.rows.has(name) && snapshot.rows.get(name) === undefined) this.#followed.delete(name);
      else if (now > followed.until && followed.told === before) this.#followed.leave(name);
    }
  }

  #tellRows(told: ToldChanges, name: string, { rows }: Snapshot, upTo: number): void {
    const followed = this.#followed.get(name);
    const found = rows.get(name);
    if (!followed || !found) return;
    for (const row of found.rows) {
      if (row.seq > upTo) break;
      if (row.seq <= followed.told) continue;
      const { workflow, kinds } = this.#filter;
      const wants = (kind: ChangeKind): boolean =>
        (workflow === undefined || row.workflow === workflow) && kinds?.has(kind) !== false;
      const of = found.ids.get(row.seq - 1);
      if (row.carries === "untold" && of !== undefined && followed.told < row.seq - HALF) {
        followed.told = row.seq - HALF;
        const change = wants("writes") ? ({ thread: found.thread, kind: "writes", id: of, row } as const) : undefined;
        told.addRow(followed, change, this.#position, this.#skip);
      }
      followed.told = row.seq;
      const change = wants("put") ? ({ thread: found.thread, kind: "put", id: row.id, row } as const) : undefined;
      told.addRow(followed, change, this.#position, this.#skip);
    }
  }

  async #wants(line: LogRecord, [kind]: LoggedChange): Promise<boolean> {
    const { workflow, kinds } = this.#filter;
    if (kind === "active" || !this.#isOf(line.thread) || kinds?.has(kind) === false) return false;
    return workflow === undefined || (await this.#workflowOf(line)) === workflow;
  }

  /** Returns the workflow of a line's thread, from its present head where the line does not say. */
  async #workflowOf({ thread, workflow }: LogRecord): Promise<string | null | undefined> {
    if (workflow !== undefined) return workflow;
    const tape = await this.#context.thread(thread);
    return tape && (await headOf(this.#context, tape, ""))?.workflow;
  }
}

function nameOfFilter({ thread, workflow, kinds }: WatchFilter): string {
  if (thread === undefined && workflow === undefined && kinds === undefined) return "";
  return JSON.stringify([thread ?? null, workflow ?? null, kinds ? [...kinds].sort() : null]);
}

function expired(): ThreadmarkError {
  return new ThreadmarkError(
    "EXPIRED",
    "The cursor is past the horizon of the log: changes behind it were cut away after a day, or after 100,000 lines. " +
      "Read the threads, and watch from now on.",
  );
}
