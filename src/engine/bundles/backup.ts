import type { Backend } from "../../backend.ts";
import { bundleLine } from "../../codec/bundle.ts";
import type { BackupResult } from "../../model/interface/results.ts";
import type { BackupOptions } from "../../model/interface/store-options.ts";
import { byteLength } from "../../platform/bytes.ts";
import { cryptography } from "../../platform/node-builtins.ts";
import { abortable } from "../memory/abortable.ts";
import type { EngineContext } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import { allThreads } from "../reads/directory.ts";
import { ChangeFeed, type WatchFilter } from "../reads/watch/change-feed.ts";
import { shownRows } from "../view/shown-rows.ts";
import type { BundleRecord } from "./bundle-record.ts";
import { bundleLines, exportTapes, refuseDamaged } from "./export.ts";

/** A backup has all changes: see {@link WatchFilter}. */
const everything: WatchFilter = { thread: undefined, workflow: undefined, kinds: undefined };

/**
 * Yields a store as the lines of a bundle, and returns what it was. All threads are of one moment where the backend can keep
 * one, or where nothing is committed meanwhile. With `since`, it has the threads that were changed after that cursor, whole.
 */
export async function* backupStore(store: EngineContext, options: BackupOptions): AsyncGenerator<string, BackupResult> {
  const { since, signal } = options;
  signal?.throwIfAborted();
  const snapshot = await store.calls.track(async () => store.backend.snapshot?.());
  try {
    const backend: Backend = abortable(store.backend, signal ?? new AbortController().signal);
    const context = store.fresh(snapshot ? { ...backend, read: (reads) => snapshot.read(reads) } : backend);
    const feed = await store.calls.track(() =>
      since === undefined
        ? ChangeFeed.now(context, everything)
        : Promise.resolve(ChangeFeed.after(context, everything, placeIn(since), refuseDamaged)),
    );
    const changed = since === undefined ? undefined : await store.calls.track(() => changedIn(feed));
    const cursor = namedCursor(feed.cursor);
    const about = { backup: { cursor, ...(since !== undefined && { since }) } };
    const lines = await bundleLines(store, store.encryption !== undefined, about);
    const count = new Counting();
    yield count.add(lines.header);
    const out = (line: string): string => count.add(lines.out(count.seen(line)));
    const deleted: string[] = [];
    const source = changed
      ? someThreads(context, changed, deleted)
      : allThreads(context, { together: 1, onFault: refuseDamaged });
    const threads = yield* exportTapes(store, context, source, out, options);
    for (const id of deleted) yield out(bundleLine({ kind: "deleted", id } satisfies BundleRecord));
    const end = { kind: "done", threads, ...(deleted.length > 0 && { deleted: deleted.length }) } as const;
    yield out(bundleLine(end satisfies BundleRecord));
    const rested = snapshot !== undefined || (await store.calls.track(() => feed.next())).length === 0;
    return { consistent: rested ? "store" : "thread", cursor, threads, deleted: deleted.length, ...count.result };
  } finally {
    await snapshot?.close();
  }
}

/**
 * Adds a name to a cursor that no other backup has: two stores, or two backups of one, may stand at the same place of their
 * logs, and restoring one after the other's increment would be taken for a chain.
 */
function namedCursor(cursor: string): string {
  return `${cursor}.${cryptography().randomBytes(9).toString("base64url")}`;
}

/** Returns the place in the log that a backup's cursor stands for. */
function placeIn(cursor: string): string {
  const [place = ""] = cursor.split(".");
  return place;
}

/** Returns the threads that were changed behind the cursor of a feed, which goes on to the end. */
async function changedIn(feed: ChangeFeed): Promise<ReadonlySet<string>> {
  const threads = new Set<string>();
  for (;;) {
    const changes = await feed.next();
    for (const { thread } of changes) threads.add(thread);
    if (changes.length > 0 || feed.more) continue;
    // The cursor stays before these changes, so the next backup has their threads once more.
    for (const thread of feed.unsettled) threads.add(thread);
    return threads;
  }
}

/** Yields the tapes of some threads, and notes the threads that are gone. */
async function* someThreads(context: EngineContext, ids: ReadonlySet<string>, gone: string[]): AsyncGenerator<Tape> {
  for (const id of ids) {
    const tape = await shownThread(context, id).catch((error: unknown) => refuseDamaged(id, error));
    if (tape) yield tape;
    else gone.push(id);
  }
}

/** Returns the tape of a thread that has any checkpoint: one without is none for a backup. */
async function shownThread(context: EngineContext, id: string): Promise<Tape | undefined> {
  const tape = await context.thread(id);
  if (tape) for await (const _ of shownRows(context, tape)) return tape;
  return undefined;
}

const CHECKPOINT = '"record":{"kind":"checkpoint"';

/** Counts the checkpoints and bytes of a bundle as its lines go out. */
class Counting {
  #checkpoints = 0;
  #bytes = 0;

  get result(): Pick<BackupResult, "checkpoints" | "bytes"> {
    return { checkpoints: this.#checkpoints, bytes: this.#bytes };
  }

  seen(line: string): string {
    if (line.startsWith(CHECKPOINT, line.indexOf('"record"'))) this.#checkpoints += 1;
    return line;
  }

  add(line: string): string {
    this.#bytes += byteLength(line);
    return line;
  }
}
