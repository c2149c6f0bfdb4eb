import { Committer } from "./commits/group-commit.ts";
import type { Lane } from "./commits/lane.ts";
import { Lanes } from "./commits/lanes.ts";
import { Context, type ContextOptions } from "./memory/context.ts";
import { UNSEALED } from "./memory/tape.ts";

/** The lifecycle of an open store: wires the context, the committer and the lanes together, and closes them in order. */
export class Engine {
  readonly context: Context;
  readonly committer: Committer;
  readonly lanes: Lanes;

  constructor(options: ContextOptions) {
    this.context = new Context(options);
    this.committer = new Committer(options.backend);
    this.lanes = new Lanes(this.context, this.committer);
  }

  /** Returns the queue that orders this process's changes of one thread. */
  lane(thread: string): Lane {
    return this.lanes.of(thread);
  }

  /** Waits for the calls under way, then releases everything. */
  async close(): Promise<void> {
    const { context } = this;
    if (context.calls.closed) return;
    await context.calls.close();
    if (context.backend.commitIfFree) await this.#sealTails();
    context.forgetAll();
    await context.backend.close();
  }

  /** Seals tails of half a pack or more. */
  async #sealTails(): Promise<void> {
    const tapes = this.context.tapes.unsealed(this.context.packRows / 2 + UNSEALED);
    if (tapes.length > 0) await (await import("./commits/seal-on-close.ts")).sealTails(this.context, tapes);
  }
}
