import type { EngineContext } from "../memory/context.ts";
import type { Committer } from "./group-commit.ts";
import { Lane } from "./lane.ts";

/** Beyond this many, idle lanes are dropped: each is small, but threads are many. */
const MOST_LANES = 1024;

/** The lanes of the threads that are being changed. */
export class Lanes {
  readonly #context: EngineContext;
  readonly #committer: Committer;
  readonly #lanes = new Map<string, Lane>();

  constructor(context: EngineContext, committer: Committer) {
    this.#context = context;
    this.#committer = committer;
  }

  /** Returns the queue that orders this process's changes of one thread. */
  of(thread: string): Lane {
    let lane = this.#lanes.get(thread);
    if (!lane) {
      if (this.#lanes.size >= MOST_LANES) this.#dropIdle();
      lane = new Lane(this.#context, this.#committer, thread);
      this.#lanes.set(thread, lane);
    }
    return lane;
  }

  #dropIdle(): void {
    for (const [thread, lane] of this.#lanes) if (lane.idle) this.#lanes.delete(thread);
  }
}
