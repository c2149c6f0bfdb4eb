import { bundleLine } from "../../codec/bundle.ts";
import { ThreadmarkError } from "../../errors.ts";
import type { ExportOptions } from "../../model/interface/store-options.ts";
import { isCorrupt } from "../faults/damage.ts";
import { abortable } from "../memory/abortable.ts";
import type { EngineContext } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import { allThreads } from "../reads/directory.ts";
import type { BackupHeader, BundleRecord } from "./bundle-record.ts";
import { exportThread } from "./export-thread.ts";

/**
 * Characters of a thread's text that are held back until the whole thread was read unchanged. A thread with more text is written
 * as it is read; if it changes meanwhile, a line makes its beginning void.
 */
const HELD_CHARACTERS = 4 * 1024 * 1024;

/** Yields a store as text: one line a record. Each thread stands for itself, with all that it shows at one moment. */
export async function* exportStore(store: EngineContext, options: ExportOptions): AsyncGenerator<string> {
  const { threads, after, signal, encrypted } = options;
  signal?.throwIfAborted();
  const context = store.fresh(abortable(store.backend, signal));
  const lines = await bundleLines(store, encrypted === true, {});
  yield lines.header;
  const range = { together: 1, onFault: refuseDamaged, ...(after !== undefined && { after }) };
  const source = threads === undefined ? allThreads(context, range) : namedThreads(context, threads);
  const count = yield* exportTapes(store, context, source, lines.out, options);
  yield lines.out(bundleLine({ kind: "done", threads: count } satisfies BundleRecord));
}

/** The lines of a bundle: its header, and the form in which later lines are given out. */
export interface BundleLines {
  readonly header: string;
  /** Called once for each line, in order. */
  readonly out: (line: string) => string;
}

/** Begins a bundle. */
export async function bundleLines(
  store: EngineContext,
  encrypted: boolean,
  about: { readonly backup?: BackupHeader },
): Promise<BundleLines> {
  const createdAt = store.clock();
  const plain: BundleRecord = { kind: "bundle", version: about.backup ? 3 : 2, createdAt, ...about };
  if (!encrypted) return { header: bundleLine(plain), out: (line) => line };
  if (!store.encryption) throw noKeys();
  const { header, seal } = await store.encryption.sealBundle();
  return {
    header: bundleLine({ ...plain, version: 3, encrypted: header } satisfies BundleRecord),
    out: (line) => bundleLine({ kind: "sealed", line: seal(line) } satisfies BundleRecord),
  };
}

function noKeys(): ThreadmarkError {
  return new ThreadmarkError(
    "KEY",
    "The store was opened without encryption, so it has no key for the bundle. Open it with encryption: { current, keys }.",
  );
}

/** Yields the lines of threads, and returns how many there are. A named one that is gone meanwhile is `NOT_FOUND`. */
export async function* exportTapes(
  store: EngineContext,
  context: EngineContext,
  source: AsyncGenerator<Tape>,
  out: (line: string) => string,
  { threads, progress, signal }: ExportOptions,
): AsyncGenerator<string, number> {
  let count = 0;
  for (;;) {
    const next = await store.calls.track(() => source.next());
    if (next.done) break;
    const { thread } = next.value.meta;
    const lines = new HeldLines();
    const records = exportThread(context, next.value);
    let last: BundleRecord["kind"] | undefined;
    for (;;) {
      const record = await store.calls
        .track(() => records.next())
        .catch((error: unknown) => refuseDamaged(thread, error));
      if (record.done) break;
      signal?.throwIfAborted();
      last = record.value.kind;
      for (const line of lines.add(record.value)) yield out(line);
    }
    // It was deleted meanwhile.
    if (last === undefined || last === "void") {
      if (threads && !(await context.thread(thread))) throw nothingToExport(thread);
    } else count += 1;
    for (const line of lines.rest()) yield out(line);
    signal?.throwIfAborted();
    progress?.(count, thread);
  }
  return count;
}

/** The lines of a thread that are not out yet. */
class HeldLines {
  #lines: string[] = [];
  #characters = 0;
  #begun = false;

  *add(record: BundleRecord): Generator<string> {
    if (record.kind === "void" && !this.#begun) {
      this.#lines = [];
      this.#characters = 0;
      return;
    }
    const line = bundleLine(record);
    this.#lines.push(line);
    this.#characters += line.length;
    if (this.#characters <= HELD_CHARACTERS && record.kind !== "void") return;
    this.#begun = record.kind !== "void";
    yield* this.rest();
  }

  *rest(): Generator<string> {
    yield* this.#lines;
    this.#lines = [];
    this.#characters = 0;
  }
}

async function* namedThreads(context: EngineContext, threads: readonly string[]): AsyncGenerator<Tape> {
  // A bundle in which a thread stands twice is refused.
  for (const id of new Set(threads)) {
    const tape = await context.thread(id).catch((error: unknown) => refuseDamaged(id, error));
    if (!tape) throw nothingToExport(id);
    yield tape;
  }
}

/**
 * Throws the error of a bundle that would lack a damaged thread, and rethrows any but `CORRUPT`. `thread` is undefined where the
 * record that names it is the damaged one.
 */
export function refuseDamaged(thread: string | undefined, error: unknown): never {
  if (!isCorrupt(error)) throw error;
  const { checkpoint, frame } = error;
  throw new ThreadmarkError(
    "CORRUPT",
    `${thread === undefined ? "A thread" : `Thread ${JSON.stringify(thread)}`} is damaged, and no export or backup leaves a thread out by itself: ${error.message} ` +
      "To save the others first, name them: export({ threads }); verify() names the damaged ones.",
    {
      ...(thread !== undefined && { thread }),
      ...(checkpoint !== undefined && { checkpoint }),
      ...(frame !== undefined && { frame }),
      cause: error,
    },
  );
}

function nothingToExport(thread: string): ThreadmarkError {
  return new ThreadmarkError(
    "NOT_FOUND",
    `There is no thread ${JSON.stringify(thread)} to export. See store.threads().`,
    { thread },
  );
}
