import type { FlowEvent } from "./events.ts";
import type { WalkOptions } from "./options.ts";

/** A queue of events for one reader. It keeps all events until they are read. */
class EventQueue<Event> {
  readonly #events: Event[] = [];
  #ended = false;
  #failure: { readonly error: unknown } | undefined;
  #wake: (() => void) | undefined;

  push(event: Event): void {
    this.#events.push(event);
    this.#wake?.();
  }

  end(failure?: { readonly error: unknown }): void {
    this.#ended = true;
    this.#failure = failure;
    this.#wake?.();
  }

  async *read(): AsyncGenerator<Event, void, undefined> {
    for (;;) {
      // The queue is read again after each yield, since events may come while the reader works on one.
      for (let event = this.#events.shift(); event !== undefined; event = this.#events.shift()) yield event;
      if (this.#ended) break;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
    if (this.#failure !== undefined) throw this.#failure.error;
  }
}

type Streaming<State> = Required<Pick<WalkOptions<State>, "signal" | "on">>;

/** Yields the events of a run. The run starts with the first `next()`, and is aborted when the reader leaves the loop. */
export async function* streamed<State>(
  options: WalkOptions<State>,
  start: (streaming: Streaming<State>) => Promise<unknown>,
): AsyncGenerator<FlowEvent<State>, void, undefined> {
  const queue = new EventQueue<FlowEvent<State>>();
  const leaving = new AbortController();
  const signal = options.signal === undefined ? leaving.signal : AbortSignal.any([options.signal, leaving.signal]);
  const on = (event: FlowEvent<State>): void => {
    options.on?.(event);
    queue.push(event);
  };
  const running = start({ signal, on }).then(
    () => queue.end(),
    (error: unknown) => queue.end({ error }),
  );
  try {
    yield* queue.read();
  } finally {
    leaving.abort(new Error("The reader of the stream left."));
    await running;
  }
}
