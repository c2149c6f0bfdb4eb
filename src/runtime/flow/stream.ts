import type { WalkOptions } from "../call/options.ts";
import type { FlowTypes } from "../graph/flow-types.ts";
import type { FlowEvent } from "../run/events.ts";

/** Options of a stream. */
export interface StreamOptions {
  /** When the reader leaves the loop early: let the run go on, or abort it. Default "continue". */
  readonly onLeave?: "continue" | "abort";
}

/** With so many events unread, the run waits at the next step or awaited `emit`. */
const MANY = 1024;

/** A queue of events for one reader. */
class EventQueue<Event> {
  #events: Event[] = [];
  #first = 0;
  #ended = false;
  #left = false;
  #failure: { readonly error: unknown } | undefined;
  #wake: (() => void) | undefined;
  #room: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined;

  /** Adds an event. Returns a promise if many wait: it resolves when the reader has caught up. */
  push(event: Event): Promise<void> | undefined {
    if (this.#left) return undefined;
    this.#events.push(event);
    this.#wake?.();
    if (this.#events.length - this.#first <= MANY) return undefined;
    if (this.#room === undefined) {
      let resolve = (): void => {};
      const promise = new Promise<void>((done) => {
        resolve = done;
      });
      this.#room = { promise, resolve };
    }
    return this.#room.promise;
  }

  end(failure?: { readonly error: unknown }): void {
    this.#ended = true;
    this.#failure = failure;
    this.#wake?.();
  }

  /** Drops what is unread and whatever comes: nobody reads it. */
  leave(): void {
    this.#left = true;
    this.#events = [];
    this.#makeRoom();
  }

  async *read(): AsyncGenerator<Event, void, undefined> {
    for (;;) {
      // The queue is read again after each yield, since events may come while the reader works on one.
      while (this.#first < this.#events.length) {
        const event = this.#events[this.#first] as Event;
        this.#first += 1;
        if (this.#first === this.#events.length) {
          this.#events = [];
          this.#first = 0;
        }
        if (this.#events.length - this.#first <= MANY / 2) this.#makeRoom();
        yield event;
      }
      if (this.#ended) break;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  #makeRoom(): void {
    this.#room?.resolve();
    this.#room = undefined;
  }
}

type Streaming<State, Types extends FlowTypes> = Required<Pick<WalkOptions<State, string, Types>, "signal" | "on">>;

/** Yields the events of a run, which starts with the first `next()`. */
export async function* streamed<State, Types extends FlowTypes>(
  { onLeave = "continue", ...options }: WalkOptions<State, string, Types> & StreamOptions,
  start: (streaming: Streaming<State, Types>) => Promise<unknown>,
): AsyncGenerator<FlowEvent<State, Types>, void, undefined> {
  const queue = new EventQueue<FlowEvent<State, Types>>();
  const leaving = new AbortController();
  const signal = options.signal === undefined ? leaving.signal : AbortSignal.any([options.signal, leaving.signal]);
  const on = (event: FlowEvent<State, Types>): Promise<void> | undefined => {
    const listening = options.on?.(event);
    const reading = queue.push(event);
    return listening instanceof Promise ? Promise.all([listening, reading]).then(() => {}) : reading;
  };
  const running = start({ signal, on: on as Streaming<State, Types>["on"] }).then(
    () => queue.end(),
    (error: unknown) => queue.end({ error }),
  );
  try {
    yield* queue.read();
  } finally {
    queue.leave();
    if (onLeave === "abort") {
      leaving.abort(new Error("The reader of the stream left."));
      await running;
    }
  }
}
