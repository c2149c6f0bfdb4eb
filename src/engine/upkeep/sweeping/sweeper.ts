import { ThreadmarkError } from "../../../errors.ts";
import type { SweepReport } from "../../../model/retention/sweep.ts";
import { acquireChange, checkLease } from "../../changes/lease.ts";
import type { Lanes } from "../../commits/lanes.ts";
import type { ThreadChange } from "../../commits/thread-change.ts";
import type { EngineContext } from "../../memory/context.ts";
import { STORE_THREAD } from "../../records/keys.ts";
import type { LeaseRecord } from "../../records/meta.ts";
import type { SweeperRecord } from "../../records/store-wide/sweeper.ts";

/** A sweeper that was killed keeps others waiting for so many milliseconds. It renews its lease with every batch. */
const TTL = 60_000;

/** Returns what is noted of earlier sweeps. */
export async function sweeperRecord(context: EngineContext): Promise<SweeperRecord | undefined> {
  return (await context.thread(STORE_THREAD))?.meta.sweeper;
}

/** Returns the last sweep of a store, if there was one. */
export async function lastSweep(context: EngineContext): Promise<SweepReport | null> {
  const record = await sweeperRecord(context);
  // Sweeps of before did not count damaged threads.
  return record?.last ? { ...record.last, damaged: record.last.damaged ?? 0, next: record.next ?? null } : null;
}

/** The right to sweep a store, of one process at a time. */
export class Sweeper {
  readonly #lanes: Lanes;
  readonly #lease: LeaseRecord;

  private constructor(lanes: Lanes, lease: LeaseRecord) {
    this.#lanes = lanes;
    this.#lease = lease;
  }

  /** Takes the lease. `BUSY` while another sweeps the store. */
  static async begin(lanes: Lanes, holder: string): Promise<Sweeper> {
    try {
      return new Sweeper(lanes, await lanes.of(STORE_THREAD).add(acquireChange({ holder, ttl: TTL })));
    } catch (error) {
      if (!ThreadmarkError.is(error, "BUSY") || error.holder === undefined) throw error;
      const { holder: other, remaining = 0 } = error;
      throw new ThreadmarkError(
        "BUSY",
        `The store is being swept by ${JSON.stringify(other)}, whose lease lasts ${remaining} ms more. Let it finish, or try again later.`,
        { holder: other, remaining, cause: error },
      );
    }
  }

  /** Notes how far the sweep is, and renews the lease. `FENCED` where another has taken it. */
  async note(record: SweeperRecord): Promise<void> {
    await this.#lanes.of(STORE_THREAD).add(this.#noting(record, true));
  }

  /** Notes the outcome, and gives the lease up. */
  async end(record: SweeperRecord | undefined): Promise<void> {
    await this.#lanes.of(STORE_THREAD).add(this.#noting(record, false));
  }

  #noting(record: SweeperRecord | undefined, goesOn: boolean): ThreadChange<void> {
    const lease = this.#lease;
    const { holder, epoch } = lease;
    return {
      plan: async (draft) => {
        checkLease(draft, { ...lease, thread: STORE_THREAD, holder, epoch });
        const beat = (draft.meta?.lease?.beat ?? 0) + 1;
        const expires = draft.context.clock() + TTL;
        draft.change({
          lease: goesOn ? { ...lease, expires, beat } : undefined,
          ...(record && { sweeper: record }),
        });
      },
    };
  }
}
