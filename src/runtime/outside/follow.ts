import type { Store } from "../../api/store.ts";
import type { Thread } from "../../api/thread.ts";
import type { Checkpoint } from "../../model/checkpoint.ts";
import { controlIndexes } from "../../model/control-writes.ts";
import { endOf, type Status, statusOf } from "../../model/status.ts";
import { listen } from "../control/bell.ts";
import type { Declared, FlowTypes } from "../graph/flow-types.ts";
import type { Values } from "../graph/reducers.ts";
import { EMITS } from "../position/kept-emits.ts";
import type { Question } from "../run/events.ts";

/** Options of `flow.follow`. */
export interface FollowOptions {
  /** The cursor of the last event already seen. Default: the events of the thread's last run, from its start. */
  readonly after?: string;
  /** Ends the loop. Default: none. */
  readonly signal?: AbortSignal;
}

/** An event of a run as the store has it. */
export type StoredEvent<State = unknown, Types extends FlowTypes = FlowTypes> =
  /** A checkpoint of the run. */
  | {
      readonly type: "step";
      readonly cursor: string;
      readonly run: string | null;
      readonly step: number;
      readonly node: string | null;
      readonly state: State;
      readonly next: readonly string[];
      readonly interrupts: readonly Question<Types>[];
    }
  /** Data that a node emitted with `keep`, before the next checkpoint. */
  | {
      readonly type: "emit";
      readonly cursor: string;
      readonly node: string | null;
      readonly data: Declared<Types, "emit">;
    }
  /** The run has ended, and so has the loop. */
  | { readonly type: "end"; readonly cursor: string; readonly status: Exclude<Status, "running"> };

/** How often the store is asked where nothing tells of commits. */
const LOOK = 250;

/**
 * Yields the events of a run from the store, those of the past and then those to come, until the run has ended. A cursor is the seq
 * of a checkpoint and the number of events after it.
 */
export async function* follow<State>(
  store: Store<Values>,
  id: string,
  { after, signal }: FollowOptions,
): AsyncGenerator<StoredEvent<State>, void, undefined> {
  const thread = store.thread<Values>(id);
  let place = after === undefined ? { seq: 0, emits: 0 } : placeOf(after);
  let run = after === undefined ? undefined : null;
  const news = new News(store, id, signal);
  try {
    while (!signal?.aborted) {
      const checkpoints = await since(thread, place.seq, run);
      run = null;
      for (const checkpoint of checkpoints) {
        if (checkpoint.seq > place.seq) {
          place = { seq: checkpoint.seq, emits: 0 };
          yield stepOf<State>(checkpoint, cursorOf(place));
        }
        for (const { task, index, node, value } of await thread.writes({ seq: checkpoint.seq })) {
          if (task !== EMITS || index < place.emits) continue;
          place = { seq: checkpoint.seq, emits: index + 1 };
          yield { type: "emit", cursor: cursorOf(place), node, data: value };
        }
      }
      const head = checkpoints.at(-1);
      if (head !== undefined && head.next.length === 0) {
        yield { type: "end", cursor: cursorOf(place), status: await statusAt(thread, head) };
        return;
      }
      await news.next();
    }
  } finally {
    news.stop();
  }
}

/** Returns the checkpoints from a seq on, oldest first; without a run to begin with, those of the last run. */
async function since(
  thread: Thread<Values>,
  seq: number,
  run: null | undefined,
): Promise<readonly Checkpoint<Values>[]> {
  const found: Checkpoint<Values>[] = [];
  for await (const checkpoint of thread.history({ states: true })) {
    const isOther = run === undefined && found[0] !== undefined && checkpoint.run !== found[0].run;
    if (checkpoint.seq < seq || isOther) break;
    found.push(checkpoint);
  }
  return found.reverse();
}

function stepOf<State>(checkpoint: Checkpoint<Values>, cursor: string): StoredEvent<State> {
  const { run, step, node, next, interrupts } = checkpoint;
  const names = next.map((activation) => activation.node);
  return { type: "step", cursor, run, step, node, state: checkpoint.state as State, next: names, interrupts };
}

async function statusAt(thread: Thread<Values>, { id, interrupts }: Checkpoint): Promise<Exclude<Status, "running">> {
  const errors = (await thread.writes(id)).filter(({ index }) => index === controlIndexes.error);
  const end = endOf(errors.map(({ value }) => value));
  return statusOf({ leased: false, end, waiting: interrupts.length, pending: 0 }) as Exclude<Status, "running">;
}

interface Place {
  readonly seq: number;
  readonly emits: number;
}

function cursorOf({ seq, emits }: Place): string {
  return `${seq}.${emits}`;
}

function placeOf(cursor: string): Place {
  const found = typeof cursor === "string" ? /^(\d{1,15})\.(\d{1,15})$/.exec(cursor) : null;
  if (found === null) throw new TypeError("follow({ after }) takes the cursor of an event.");
  return { seq: Number(found[1]), emits: Number(found[2]) };
}

/** Waits for commits of a thread: as the store tells of them, and by looking now and then. */
class News {
  readonly #stop = new AbortController();
  #came = false;
  #wake: () => void = () => {};

  constructor(store: Store<Values>, thread: string, signal: AbortSignal | undefined) {
    const tell = (): void => {
      this.#came = true;
      this.#wake();
    };
    const unlisten = listen(store, (rung) => {
      if (rung === thread) tell();
    });
    signal?.addEventListener("abort", tell);
    this.#stop.signal.addEventListener("abort", () => {
      unlisten();
      signal?.removeEventListener("abort", tell);
    });
    void this.#watch(store, thread, tell);
  }

  async #watch(store: Store<Values>, thread: string, tell: () => void): Promise<void> {
    try {
      for await (const _ of store.watch({ thread, signal: this.#stop.signal })) tell();
    } catch {
      // A store that cannot be watched is looked at instead.
    }
  }

  async next(): Promise<void> {
    if (!this.#came) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, LOOK);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    this.#came = false;
  }

  stop(): void {
    this.#stop.abort();
  }
}
