import type { Lane } from "../engine/commits/lane.ts";
import type { Engine } from "../engine/engine.ts";
import { closedError } from "../engine/faults/closed.ts";
import { refusedBy } from "../engine/faults/missing.ts";
import type { EngineContext } from "../engine/memory/context.ts";
import type { Place } from "../engine/reads/checkpoint.ts";
import { namespaceKey } from "../model/address.ts";

/** The inside of a thread's handle: the engine, and the thread and namespace that the handle is for. */
export class Handle {
  readonly engine: Engine;
  readonly place: Place;
  /** The namespace as rows name it. */
  readonly key: string;

  constructor(engine: Engine, thread: string, namespace: readonly string[]) {
    this.engine = engine;
    this.place = { thread, namespace };
    this.key = namespaceKey(namespace);
  }

  get context(): EngineContext {
    return this.engine.context;
  }

  get lane(): Lane {
    return this.engine.lane(this.place.thread);
  }

  /** Checks and captures the arguments in the call itself; a fault of theirs rejects before any I/O. */
  attempt<T>(prepare: () => () => Promise<T>): Promise<T> {
    const { calls } = this.context;
    if (calls.closed) return Promise.reject(closedError());
    try {
      return calls.track(prepare());
    } catch (error) {
      return Promise.reject(refusedBy(this.place.thread, error));
    }
  }

  /** Refuses an operation that is for whole threads, on the handle of a nested namespace. */
  rootOnly(operation: string): void {
    if (this.key === "") return;
    const thread = JSON.stringify(this.place.thread);
    throw new TypeError(`${operation} is for whole threads. Use store.thread(${thread}) without a namespace.`);
  }
}
