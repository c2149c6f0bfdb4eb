import { diagnosticsChannel } from "./node-builtins.ts";

/** A commit or read of the backend that has ended. */
export interface BackendEvent {
  readonly backend: string;
  /** Batches of a commit, or records and ranges of a read, in one call. */
  readonly count: number;
  /** Batches of a commit that were refused because another store was first. */
  readonly refused?: number;
  /** Milliseconds. */
  readonly duration: number;
  readonly error?: unknown;
}

/** A run of a graph or one attempt at a task, at its start and, with `duration`, at its end. The object is the same both times. */
export interface WorkEvent {
  readonly graph: string;
  readonly thread: string | undefined;
  readonly run: string | undefined;
  /** For a run: whether it goes on from a checkpoint. */
  readonly resumed?: boolean;
  /** For a resumed run: the trace context (W3C `traceparent`) of the run that began it. */
  readonly begunBy?: string | undefined;
  /** For a task. */
  readonly node?: string;
  readonly task?: string;
  readonly attempt?: number;
  /** Set at the end: milliseconds. */
  duration?: number;
  /** Set at the end of work that threw. */
  error?: unknown;
  /** Set at the end of a run: `done` or `interrupted`. */
  status?: string;
  /** A subscriber to the start may set it: the work runs inside. */
  around?: <T>(work: () => T) => T;
  /** A subscriber to the start of a run may set its trace context: it is kept with the run's checkpoints. */
  trace?: string;
}

/** The messages of Threadmark's diagnostics channels, by the channel's name without `threadmark:`. */
export interface Diagnostics {
  readonly commit: BackendEvent;
  readonly read: BackendEvent;
  /** The oldest rows of a thread are about to be packed. */
  readonly seal: { readonly thread: string; readonly rows: number; readonly packs: number };
  /** A change was refused with CONFLICT. */
  readonly conflict: { readonly thread: string; readonly error: unknown };
  /** A change was refused with FENCED. */
  readonly fence: { readonly thread: string; readonly error: unknown };
  /** A change is planned again because another store was first. */
  readonly retry: { readonly thread: string; readonly attempt: number };
  /**
   * Checkpoints were pruned, a store was swept (`threads` were deleted) or compacted, or a sweep by itself failed (`error`).
   * `damaged` threads were passed over.
   */
  readonly sweep: {
    readonly thread?: string;
    readonly threads?: number;
    readonly deleted?: number;
    readonly bytesReclaimed?: number;
    readonly damaged?: number;
    readonly error?: unknown;
  };
  readonly "run:start": WorkEvent;
  readonly run: WorkEvent;
  readonly "task:start": WorkEvent;
  readonly task: WorkEvent;
}

/** The part of a channel of `node:diagnostics_channel` that is used here. */
interface Channel {
  readonly hasSubscribers: boolean;
  publish(message: unknown): void;
}

const { channel } = diagnosticsChannel;
const channels: { readonly [Name in keyof Diagnostics]: Channel } = {
  commit: channel("threadmark:commit"),
  read: channel("threadmark:read"),
  seal: channel("threadmark:seal"),
  conflict: channel("threadmark:conflict"),
  fence: channel("threadmark:fence"),
  retry: channel("threadmark:retry"),
  sweep: channel("threadmark:sweep"),
  "run:start": channel("threadmark:run:start"),
  run: channel("threadmark:run"),
  "task:start": channel("threadmark:task:start"),
  task: channel("threadmark:task"),
};

/** Tells subscribers, if there are any. */
export function announce<Name extends keyof Diagnostics>(name: Name, message: Diagnostics[Name]): void {
  if (channels[name].hasSubscribers) channels[name].publish(message);
}

/** Tells subscribers of a refusal that they may want to count: a conflict or a lost lease. */
export function announceRefusal(thread: string, error: unknown): void {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  if (code === "CONFLICT") announce("conflict", { thread, error });
  if (code === "FENCED") announce("fence", { thread, error });
}

interface Readable<Reads, Answers> {
  readonly name: string;
  read(reads: Reads): Promise<Answers>;
}

/** Reads from a backend. */
export function observedRead<Reads extends readonly unknown[], Answers>(
  backend: Readable<Reads, Answers>,
  reads: Reads,
): Promise<Answers> {
  if (!channels.read.hasSubscribers) return backend.read(reads);
  return timed("read", backend.name, reads.length, () => backend.read(reads));
}

interface Committing<Batches, Outcomes> {
  readonly name: string;
  commit(batches: Batches): Promise<Outcomes>;
}

/** Commits batches to a backend. */
export function observedCommit<Batches extends readonly unknown[], Outcomes extends readonly boolean[]>(
  backend: Committing<Batches, Outcomes>,
  batches: Batches,
): Promise<Outcomes> {
  if (!channels.commit.hasSubscribers) return backend.commit(batches);
  const refused = (outcomes: Outcomes): number => outcomes.filter((applied) => !applied).length;
  return timed("commit", backend.name, batches.length, () => backend.commit(batches), refused);
}

async function timed<T>(
  name: "read" | "commit",
  backend: string,
  count: number,
  work: () => Promise<T>,
  refused?: (result: T) => number,
): Promise<T> {
  const started = performance.now();
  try {
    const result = await work();
    const duration = performance.now() - started;
    announce(name, { backend, count, duration, ...(refused && { refused: refused(result) }) });
    return result;
  } catch (error) {
    announce(name, { backend, count, duration: performance.now() - started, error });
    throw error;
  }
}

/** Runs work between its start event and its end event. `statusOf` returns the status of its result. */
export function traced<T>(
  name: "run" | "task",
  facts: () => WorkEvent,
  work: (event: WorkEvent | undefined) => Promise<T>,
  statusOf?: (result: T) => string | undefined,
): Promise<T> {
  const start = `${name}:start` as const;
  if (!channels[start].hasSubscribers && !channels[name].hasSubscribers) return work(undefined);
  const event: WorkEvent = facts();
  announce(start, event);
  const { around = (inside) => inside() } = event;
  return around(() => between(name, event, work, statusOf));
}

async function between<T>(
  name: "run" | "task",
  event: WorkEvent,
  work: (event: WorkEvent) => Promise<T>,
  statusOf: ((result: T) => string | undefined) | undefined,
): Promise<T> {
  const started = performance.now();
  try {
    const result = await work(event);
    const status = statusOf?.(result);
    if (status !== undefined) event.status = status;
    return result;
  } catch (error) {
    event.error = error;
    throw error;
  } finally {
    event.duration = performance.now() - started;
    announce(name, event);
  }
}
