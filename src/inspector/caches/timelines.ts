import { setImmediate as turn } from "node:timers/promises";
import type { Store } from "../../api/store.ts";
import { type LanePlace, placeInLanes } from "../../display/lanes.ts";
import type { CheckpointInfo } from "../../model/checkpoint.ts";
import { RecentMap } from "../../platform/recent-map.ts";

/** All checkpoints of a namespace, newest first, with their lanes: any stretch of it can be shown at once. */
export interface Timeline {
  readonly rows: readonly CheckpointInfo[];
  readonly places: readonly LanePlace[];
  /** The number of lanes. */
  readonly width: number;
  readonly positions: ReadonlyMap<string, number>;
}

const KEPT = 6;
/** Others may relabel or replace checkpoints without a new head, so a timeline is read again after this many milliseconds. */
const TRUSTED = 20_000;
const PER_TURN = 200;

interface Known {
  readonly timeline: Timeline;
  readonly readAt: number;
}

/** The timelines that were asked for last. A thread of ten thousand checkpoints is listed once, then only what is new. */
export class Timelines {
  readonly #store: Store;
  readonly #known = new RecentMap<string, Known>(KEPT);
  readonly #reading = new Map<string, Promise<Timeline>>();

  constructor(store: Store) {
    this.#store = store;
  }

  of(thread: string, namespace: readonly string[]): Promise<Timeline> {
    const key = JSON.stringify([thread, namespace]);
    const underWay = this.#reading.get(key);
    if (underWay !== undefined) return underWay;
    const reading = this.#read(key, thread, namespace).finally(() => this.#reading.delete(key));
    this.#reading.set(key, reading);
    return reading;
  }

  /** Forgets all timelines after a change that was made here. */
  forget(): void {
    this.#known.clear();
  }

  async #read(key: string, id: string, namespace: readonly string[]): Promise<Timeline> {
    const thread = this.#store.thread(id, { namespace });
    const known = this.#known.get(key);
    const isFresh = known !== undefined && performance.now() - known.readAt < TRUSTED;
    const earlier = isFresh ? known.timeline.rows : [];
    const fresh: CheckpointInfo[] = [];
    let hasMet = false;
    for await (const row of thread.history()) {
      hasMet = row.id === earlier[0]?.id && row.seq === earlier[0].seq;
      if (hasMet) break;
      fresh.push(row);
      if (fresh.length % PER_TURN === 0) await turn();
    }
    const rows = hasMet ? fresh.concat(earlier) : fresh;
    if (hasMet && (await thread.count()) !== rows.length) {
      // Checkpoints in the middle were deleted: the part that was known is wrong.
      this.#known.delete(key);
      return this.#read(key, id, namespace);
    }
    if (known !== undefined && hasMet && fresh.length === 0) return known.timeline;
    const timeline = { rows, ...placeInLanes(rows), positions: new Map(rows.map((row, index) => [row.id, index])) };
    this.#known.set(key, { timeline, readAt: isFresh ? known.readAt : performance.now() });
    return timeline;
  }
}
