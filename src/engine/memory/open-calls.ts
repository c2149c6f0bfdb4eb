import { closedError } from "../faults/closed.ts";
import { busyIfOvertaken } from "../faults/overtaken.ts";
import { overlong } from "../records/size-limits.ts";

/** Counts the calls that are under way, so that `close` can wait for them and refuse later ones. */
export class OpenCalls {
  #active = 0;
  #closed = false;
  #idle: (() => void) | undefined;

  /** Returns true from the moment `close` was called. */
  get closed(): boolean {
    return this.#closed;
  }

  /** Returns how many calls are under way. */
  get active(): number {
    return this.#active;
  }

  /** Runs an operation as one call; refuses it after `close`. */
  async track<T>(operation: () => Promise<T>): Promise<T> {
    if (this.#closed) throw closedError();
    this.enter();
    try {
      return await operation();
    } catch (error) {
      throw overlong(error) ?? busyIfOvertaken(error);
    } finally {
      this.leave();
    }
  }

  enter(): void {
    this.#active += 1;
  }

  leave(): void {
    this.#active -= 1;
    if (this.#active === 0) this.#idle?.();
  }

  /** Refuses later calls and resolves once those under way have ended. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#active > 0) await new Promise<void>((resolve) => (this.#idle = resolve));
  }
}
