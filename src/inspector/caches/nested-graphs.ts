import type { Store } from "../../api/store.ts";
import type { CheckpointInfo } from "../../model/checkpoint.ts";
import { RecentMap } from "../../platform/recent-map.ts";

/** A graph that ran inside a thread. */
export interface NestedGraph {
  readonly namespace: readonly string[];
  readonly checkpoints: number;
  readonly head: CheckpointInfo;
}

/** For how many milliseconds a finished graph is assumed unchanged. */
const TRUSTED = 30_000;
/** For how many threads, the last ones asked for, the graphs are remembered. */
const THREADS = 8;

interface Known {
  readonly graph: NestedGraph | undefined;
  readonly until: number;
}

/**
 * The nested graphs of threads, with their heads. A long thread has thousands, nearly all finished, and the page asks
 * every other second, so only those that may have changed are read again.
 */
export class NestedGraphs {
  readonly #store: Store;
  readonly #known = new RecentMap<string, ReadonlyMap<string, Known>>(THREADS);

  constructor(store: Store) {
    this.#store = store;
  }

  async of(id: string): Promise<readonly NestedGraph[]> {
    const earlier = this.#known.get(id);
    const now = performance.now();
    const namespaces = (await this.#store.thread(id).namespaces()).filter(({ length }) => length > 0);
    const found = await Promise.all(
      namespaces.map(async (namespace) => {
        const key = JSON.stringify(namespace);
        const known = earlier?.get(key);
        if (known !== undefined && now < known.until) return [key, known] as const;
        const graph = await this.#read(id, namespace);
        const isFinished = graph !== undefined && graph.head.pending === 0;
        return [key, { graph, until: isFinished ? now + TRUSTED : now }] as const;
      }),
    );
    this.#known.set(id, new Map(found));
    return found.flatMap(([, { graph }]) => (graph === undefined ? [] : [graph]));
  }

  /** Forgets all graphs after a change that was made here. */
  forget(): void {
    this.#known.clear();
  }

  async #read(id: string, namespace: readonly string[]): Promise<NestedGraph | undefined> {
    const graph = this.#store.thread(id, { namespace });
    for await (const head of graph.history({ limit: 1 })) return { namespace, checkpoints: await graph.count(), head };
    return undefined;
  }
}
