import type { Batch } from "../../../backend.ts";
import { isDoubtful } from "../../shared/doubtful-batches.ts";
import { ServerFailure } from "../../shared/failure.ts";
import type { Server } from "../connection/server.ts";
import type { StoreSchema } from "../store-schema.ts";
import { type Portion, runPortions } from "../writing/portions.ts";
import { type SimpleBatch, type StatementForm, simpleBatchOf } from "../writing/simple-batch.ts";

/** A transaction has the steps of about this many shards; further ones use up to four connections. */
const fullCount = 4;
const mostConnections = 4;

interface Step {
  readonly index: number;
  readonly shard: number;
  readonly of: SimpleBatch;
}

/**
 * Joins the steps of a commit, batches that check a record and insert one, into transactions over several shards: a sync for each shard
 * would take longer than the steps. A transaction that fails has changed nothing, and its steps are committed shard by shard.
 *
 * Invariant: a transaction has steps of one form, in the order of their shards, lineages and groups. So two of them never wait for each
 * other.
 */
export class JoinedSteps {
  readonly #server: Server;
  readonly #schemas: readonly StoreSchema[];
  readonly #steps = new Map<StatementForm, Step[]>();

  constructor(server: Server, schemas: readonly StoreSchema[]) {
    this.#server = server;
    this.#schemas = schemas;
  }

  /** Takes a batch of one shard if it is a step. */
  takes(index: number, shard: number, batch: Batch): boolean {
    const of = isDoubtful(batch, this.#server.interruptions) ? undefined : simpleBatchOf(batch);
    if (of === undefined || of.beside.length > 0) return false;
    const steps = this.#steps.get(of.form) ?? [];
    this.#steps.set(of.form, steps);
    steps.push({ index, shard, of });
    return true;
  }

  /** Returns the portions of the commit that run the steps. */
  *portions(): Generator<Portion> {
    for (const steps of this.#steps.values()) {
      const shards = byShard(steps.sort(inLockOrder));
      const count = Math.min(mostConnections, Math.ceil(shards.length / fullCount));
      for (let at = 0; at < count; at += 1) {
        const own = shards.slice((at * shards.length) / count, ((at + 1) * shards.length) / count);
        yield { indexes: own.flat().map(({ index }) => index), run: () => this.#run(own) };
      }
    }
  }

  async #run(shards: readonly (readonly Step[])[]): Promise<readonly boolean[]> {
    if (shards.length === 1) return this.#commit(shards[0] as readonly Step[], false);
    const applied: boolean[] = [];
    try {
      await this.#server.transaction(async (run) => {
        for (const steps of shards) {
          applied.push(
            ...(await this.#schemaOf(steps).runIn(
              run,
              steps.map(({ of }) => of),
            )),
          );
        }
        return true;
      });
      return applied;
    } catch (error) {
      if (!(error instanceof ServerFailure)) throw error;
      return this.#runApart(shards, error.mayHaveApplied);
    }
  }

  async #runApart(shards: readonly (readonly Step[])[], tried: boolean): Promise<readonly boolean[]> {
    let at = 0;
    const portions = shards.map((steps) => ({
      indexes: steps.map(() => at++),
      run: () => this.#commit(steps, tried),
    }));
    return runPortions(portions, at);
  }

  #commit(steps: readonly Step[], tried: boolean): Promise<readonly boolean[]> {
    return this.#schemaOf(steps).commit(
      steps.map(({ of }) => of.original),
      tried,
    );
  }

  #schemaOf([first]: readonly Step[]): StoreSchema {
    return this.#schemas[(first as Step).shard] as StoreSchema;
  }
}

/** Parts steps that are in order into those of each shard. */
function byShard(steps: readonly Step[]): readonly (readonly Step[])[] {
  const shards: Step[][] = [];
  for (const step of steps) {
    const last = shards.at(-1);
    if (last?.[0]?.shard === step.shard) last.push(step);
    else shards.push([step]);
  }
  return shards;
}

function inLockOrder({ shard: a, of: { insert: one } }: Step, { shard: b, of: { insert: other } }: Step): number {
  return a - b || one.key.lineage - other.key.lineage || one.key.group - other.key.group;
}
