import { messageOf, warnOf } from "../errors.ts";
import type { FlowEvent } from "../run/events.ts";

/** Tells the listener of a run its events. The faults of a listener are its own: the run goes on as if there were none. */
export class RunListener {
  readonly #on: ((event: FlowEvent) => unknown) | undefined;
  #busy: Promise<void> | undefined;

  constructor(on: ((event: FlowEvent) => unknown) | undefined) {
    this.#on = on;
  }

  tell(event: FlowEvent): void {
    if (this.#on === undefined) return;
    const warn = (error: unknown): void => warnOf(`A listener of a run failed: ${messageOf(error)}`);
    try {
      const busy = this.#on(event);
      if (busy instanceof Promise) this.#busy = busy.then(() => {}, warn);
    } catch (error) {
      warn(error);
    }
  }

  /** Waits for the promise that the listener returned last. */
  async ready(): Promise<void> {
    await this.#busy;
  }
}
