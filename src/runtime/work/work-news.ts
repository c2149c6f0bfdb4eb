import type { Store } from "../../api/store.ts";
import { ThreadmarkError } from "../../errors.ts";
import type { ChangeKind } from "../../model/interface/watched-changes.ts";
import { listen, ring } from "../control/bell.ts";
import type { Values } from "../graph/reducers.ts";

/** How long it takes until a store is watched again whose watch has ended, in milliseconds. */
const AGAIN = 1_000;

const KINDS: readonly ChangeKind[] = ["put", "writes", "mail"];

interface Listener {
  /** Called for a thread that has news; `at` is "once" for a message or an answer, "soon" for a checkpoint. */
  heard(thread: string, at: "once" | "soon"): void;
  /** Called when changes may have gone unheard, as before the watch began. */
  missed(): void;
}

/** Tells a worker which threads of its workflow have news: by the store's watch, and of this process at once. */
export class WorkNews {
  readonly #store: Store<Values>;
  readonly #workflow: string;
  readonly #listener: Listener;
  readonly #stopping = new AbortController();
  readonly #unlisten: () => void;
  #retry: ReturnType<typeof setTimeout> | undefined;

  constructor(store: Store<Values>, workflow: string, listener: Listener) {
    this.#store = store;
    this.#workflow = workflow;
    this.#listener = listener;
    this.#unlisten = listen(store, (thread) => listener.heard(thread, "once"));
    void this.#watch();
  }

  stop(): void {
    this.#stopping.abort();
    this.#unlisten();
    clearTimeout(this.#retry);
  }

  async #watch(): Promise<void> {
    const { signal } = this.#stopping;
    try {
      const changes = this.#store.watch({ workflow: this.#workflow, kinds: KINDS, signal });
      this.#listener.missed();
      for await (const { kind, thread, namespace } of changes) {
        // The bell also tells runs at work here, which may be cancelled.
        if (kind === "mail") ring(this.#store, thread);
        else if (namespace.length === 0) this.#listener.heard(thread, kind === "put" ? "soon" : "once");
      }
    } catch (error) {
      // A store that cannot be watched is looked at instead, and one that is closed ends the worker.
      if (ThreadmarkError.is(error, "UNSUPPORTED", "CLOSED")) return;
    }
    if (!signal.aborted) this.#retry = setTimeout(() => void this.#watch(), AGAIN);
  }
}
