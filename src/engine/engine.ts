import type { SweepOptions } from "../model/interface/store-options.ts";
import type { StoreRetention, SweepResult } from "../model/retention/sweep.ts";
import { Committer } from "./commits/group-commit.ts";
import type { Lane } from "./commits/lane.ts";
import { Lanes } from "./commits/lanes.ts";
import { EngineContext } from "./memory/context.ts";
import type { ContextOptions } from "./memory/context-options.ts";
import type { PruneHandler } from "./upkeep/sweeping/sweep-thread.ts";

export interface EngineOptions extends ContextOptions {
  readonly retention?: StoreRetention | undefined;
  /** Nothing can be written: the store does not sweep by itself. */
  readonly readOnly?: boolean | undefined;
}

/** The lifecycle of an open store: wires the context, the committer and the lanes together, and closes them in order. */
export class Engine {
  readonly context: EngineContext;
  readonly committer: Committer;
  readonly lanes: Lanes;

  /** Stops work in the background. Made with the first such work: aborting one takes a tenth of opening and closing a store. */
  #stop: AbortController | undefined;
  #indexing: Promise<void> | undefined;
  readonly retention: StoreRetention | undefined;
  /** Handlers that prune marked threads, by name: see `Meta.pruner`. */
  readonly pruners: Map<string, PruneHandler> = new Map();

  constructor(options: EngineOptions) {
    this.context = new EngineContext(options);
    this.committer = new Committer(options.backend);
    this.lanes = new Lanes(this.context, this.committer);
    this.context.index.onPartial = () => this.#indexInBackground();
    this.retention = options.retention;
    const { every } = options.retention ?? {};
    if (every !== undefined && !options.readOnly) this.#sweepEvery(every);
  }

  /** Deletes what the store's retention does not keep. */
  async sweep(options: SweepOptions): Promise<SweepResult> {
    const { context, lanes, committer, pruners, retention } = this;
    if (retention === undefined) throw new TypeError("sweep needs rules: open the store with retention.");
    const { sweepStore } = await import("./upkeep/sweeping/sweep.ts");
    return sweepStore({ context, lanes, committer, pruners, retention }, options);
  }

  /** Returns a signal that aborts when the store is closed. */
  #closing(): AbortSignal {
    this.#stop ??= new AbortController();
    return this.#stop.signal;
  }

  #sweepEvery(every: number): void {
    const signal = this.#closing();
    void import("./upkeep/sweeping/sweep-timer.ts").then(({ SweepTimer }) => {
      const { context, lanes, committer, pruners } = this;
      const retention = this.retention as StoreRetention;
      new SweepTimer({ context, lanes, committer, pruners, retention }, every, signal);
    });
  }

  /** Returns the queue that orders this process's changes of one thread. */
  lane(thread: string): Lane {
    return this.lanes.of(thread);
  }

  /** Builds the index of a store of an earlier version while it is used. Closing the store stops that; the next one to notice goes on. */
  #indexInBackground(): void {
    const signal = this.#closing();
    this.#indexing ??= (async () => {
      const { reindexStore } = await import("./upkeep/reindex.ts");
      const { context, lanes, committer } = this;
      await reindexStore(context, lanes, committer, { signal });
    })().catch(() => {
      // Stopped, read-only or out of reach: lists read all threads until the index is built another time.
    });
  }

  /** Waits for the calls under way, then releases everything. */
  async close(): Promise<void> {
    const { context } = this;
    if (context.calls.closed) return;
    this.#stop?.abort();
    await this.#indexing;
    const closed = context.calls.close();
    // Watches that wait for a change end.
    context.watches.tell();
    await closed;
    context.forgetAll();
    await context.backend.close();
  }
}
