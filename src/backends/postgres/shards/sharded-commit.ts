import type { Batch } from "../../../backend.ts";
import { withDoubtfulCheck } from "../../shared/doubtful-batches.ts";
import { isTaken } from "../connection/failure.ts";
import type { Server } from "../connection/server.ts";
import type { StoreSchema } from "../store-schema.ts";
import { appliedOf, type GenericBatch, genericBatchOf } from "../writing/generic-batch.ts";
import { type Portion, runPortions } from "../writing/portions.ts";
import { JoinedSteps } from "./joined-steps.ts";
import type { Placement } from "./placement.ts";

/**
 * Commits batches to shards: those of one shard as a group of commits there, and each that touches two in a transaction of its own,
 * which a server commits at once and Citus in two phases. Steps in several shards are joined: see {@link JoinedSteps}.
 */
export class ShardedWriter {
  readonly #server: Server;
  readonly #placement: Placement;
  readonly #schemas: readonly StoreSchema[];
  readonly #joins: boolean;

  /** Takes whether steps of several shards are to be joined. */
  constructor(server: Server, placement: Placement, schemas: readonly StoreSchema[], joins: boolean) {
    this.#server = server;
    this.#placement = placement;
    this.#schemas = schemas;
    this.#joins = joins;
  }

  commit(batches: readonly Batch[]): Promise<readonly boolean[]> {
    const groups = new Map<number, { readonly indexes: number[]; readonly batches: Batch[] }>();
    const portions: Portion[] = [];
    const steps = this.#joins ? new JoinedSteps(this.#server, this.#schemas) : undefined;
    for (const [index, batch] of batches.entries()) {
      const [first, second] = this.#placement.partsOf(batch);
      if (first === undefined) continue;
      if (second !== undefined) {
        const token = genericBatchOf(batch);
        portions.push({ indexes: [index], run: async () => [await this.#commitInTwo(token)] });
        continue;
      }
      if (steps?.takes(index, first.shard, batch)) continue;
      const group = groups.get(first.shard) ?? { indexes: [], batches: [] };
      groups.set(first.shard, group);
      group.indexes.push(index);
      group.batches.push(batch);
    }
    for (const [shard, group] of groups) {
      const schema = this.#schemas[shard] as StoreSchema;
      portions.push({ indexes: group.indexes, run: () => schema.commit(group.batches) });
    }
    portions.push(...(steps?.portions() ?? []));
    return runPortions(portions, batches.length);
  }

  /** Applies a batch in two shards, or refuses it in both. Its token is left in both, so an attempt whose answer was lost is recognised. */
  async #commitInTwo({ batch, token }: GenericBatch): Promise<boolean> {
    try {
      return await this.#server.persist(() => {
        const parts = this.#placement.partsOf(withDoubtfulCheck(batch, this.#server.interruptions));
        return this.#server.transaction(async (run) => {
          for (const { shard, batch: part } of parts) {
            const batches: readonly GenericBatch[] = [{ batch: part, token }];
            const { statement, values } = (this.#schemas[shard] as StoreSchema).call(batches);
            if (!appliedOf(batches, await run(statement, values))[0]) return false;
          }
          return true;
        });
      });
    } catch (error) {
      // Another transaction inserted a key of the batch meanwhile.
      if (isTaken(error)) return false;
      throw error;
    }
  }
}
