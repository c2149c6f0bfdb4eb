import type { Engine } from "../engine/engine.ts";
import { ChangeFeed, type WatchFilter } from "../engine/reads/watch/change-feed.ts";
import type { WatchOptions } from "../model/interface/store-options.ts";
import type { WatchedChange } from "../model/interface/watched-changes.ts";
import { nextTurn } from "../platform/turns.ts";

/** Milliseconds between two looks at a store whose backend does not report others' commits. */
const POLL = 25;

/** Milliseconds after which a look is repeated on a distant backend, where a commit may show a little later than it is told. */
const SECOND_LOOKS = [5, 20, 60] as const;

/** A look that took longer than `SHORT` milliseconds is followed by a pause as long, so that watching takes a part of the time only. */
const SHORT = 5;
const MOST_PAUSE = 25;

/**
 * The changes of a store, as they are committed. An async iterator: leave the loop, call `return()`, abort the signal or close
 * the store to end it.
 *
 * @example
 * for await (const change of store.watch({ thread: "user-42" })) console.log(change.kind, change.id);
 */
export class Watch implements AsyncGenerator<WatchedChange, void, undefined> {
  readonly #engine: Engine;
  readonly #signal: AbortSignal | undefined;
  readonly #feed: Promise<ChangeFeed>;
  /** Changes that were read and not yielded yet, the next one last. Invariant: the one before them was yielded. */
  #changes: WatchedChange[] = [];
  #yielded: WatchedChange | undefined;
  #ended = false;
  /** True if there may be changes that were not looked for. */
  #heard = true;
  #looks = 0;
  #lastLook = 0;
  #wake: (() => void) | undefined;
  #stopHearing: (() => void) | undefined;
  /** Calls of `next` are answered in order. */
  #last: Promise<unknown> = Promise.resolve();

  /** @internal */
  constructor(engine: Engine, { thread, workflow, kinds, after, signal }: WatchOptions) {
    const { context } = engine;
    const filter: WatchFilter = { thread, workflow, kinds: kinds && new Set(kinds) };
    this.#engine = engine;
    this.#signal = signal;
    // Begins with the call, whenever the first change is asked for.
    this.#feed =
      after === undefined
        ? context.calls.track(() => ChangeFeed.now(context, filter))
        : Promise.resolve(ChangeFeed.after(context, filter, after));
    context.watches.begin(this.#feed);
  }

  /** Yields the next change as soon as there is one. */
  next(): Promise<IteratorResult<WatchedChange, void>> {
    return this.#inOrder(() => this.#next());
  }

  /** Ends the watch. */
  return(): Promise<IteratorResult<WatchedChange, void>> {
    this.#end();
    return Promise.resolve({ done: true, value: undefined });
  }

  /** Ends the watch and rejects with the error. */
  throw(error: unknown): Promise<IteratorResult<WatchedChange, void>> {
    this.#end();
    return Promise.reject(error);
  }

  /**
   * Returns the cursor behind the last change that was yielded, or where the watch began. It moves on with changes that the
   * filter leaves out, so that it does not expire while nothing is yielded.
   *
   * @example
   * const cursor = await watch.cursor();
   * const later = store.watch({ after: cursor });
   */
  async cursor(): Promise<string> {
    const feed = await this.#feed;
    return this.#changes.length > 0 && this.#yielded ? this.#yielded.cursor : feed.cursor;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end();
  }

  #inOrder<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work, work);
    this.#last = result.catch(() => {});
    return result;
  }

  async #next(): Promise<IteratorResult<WatchedChange, void>> {
    try {
      while (!this.#isOver()) {
        const change = this.#changes.pop() ?? (await this.#look());
        if (change) {
          this.#yielded = change;
          return { done: false, value: change };
        }
        if (!this.#heard) await this.#rest();
      }
    } catch (error) {
      const isOver = this.#isOver();
      this.#end();
      // A look that was under way when the store was closed.
      if (!isOver) throw error;
    }
    this.#end();
    return { done: true, value: undefined };
  }

  #isOver(): boolean {
    return this.#ended || this.#engine.context.calls.closed || this.#signal?.aborted === true;
  }

  /** Reads the next changes and returns the first. */
  async #look(): Promise<WatchedChange | undefined> {
    const feed = await this.#feed;
    this.#hear();
    this.#heard = false;
    const start = performance.now();
    const changes = await this.#engine.context.calls.track(() => feed.next());
    this.#lastLook = performance.now() - start;
    if (feed.more) this.#heard = true;
    if (changes.length > 0) this.#looks = 0;
    this.#changes = [...changes].reverse();
    return this.#changes.pop();
  }

  /** Waits until there may be changes. */
  async #rest(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      const again = this.#engine.context.backend.capabilities.distant ? SECOND_LOOKS[this.#looks] : undefined;
      this.#looks += 1;
      if (again !== undefined) timer = setTimeout(resolve, again);
      if (this.#heard || this.#isOver()) resolve();
    });
    clearTimeout(timer);
    this.#wake = undefined;
    if (this.#heard) this.#looks = 0;
    if (this.#isOver()) return;
    // Commits of the same turn are looked for together.
    if (this.#lastLook < SHORT) await nextTurn();
    else await new Promise((resolve) => setTimeout(resolve, Math.min(this.#lastLook, MOST_PAUSE)));
  }

  readonly #mayHaveChanged = (): void => {
    this.#heard = true;
    this.#wake?.();
  };

  /** Listens to commits of this store and of others, from the first look on. */
  #hear(): void {
    if (this.#stopHearing) return;
    const { context } = this.#engine;
    const stops = [context.watches.add(this.#mayHaveChanged)];
    if (context.backend.hear) stops.push(context.backend.hear(this.#mayHaveChanged));
    else {
      const timer = setInterval(this.#mayHaveChanged, POLL);
      stops.push(() => clearInterval(timer));
    }
    this.#signal?.addEventListener("abort", this.#mayHaveChanged);
    stops.push(() => this.#signal?.removeEventListener("abort", this.#mayHaveChanged));
    this.#stopHearing = () => {
      for (const stop of stops) stop();
    };
  }

  #end(): void {
    this.#ended = true;
    this.#changes = [];
    this.#stopHearing?.();
    this.#stopHearing = undefined;
    this.#wake?.();
  }
}
