import { parseNamespaceKey } from "../../model/address.ts";
import type { Checkpoint, CheckpointTuple, Write } from "../../model/checkpoint.ts";
import type { CheckpointElsewhere, CheckpointRef } from "../../model/interface/options.ts";
import type { Change, CheckpointSize, ThreadSize } from "../../model/interface/results.ts";
import { isElsewhere } from "../../model/validation/refs.ts";
import { named } from "../faults/damage.ts";
import { notFound, threadNotFound } from "../faults/missing.ts";
import type { EngineContext } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import { countOf } from "../view/count.ts";
import { headOf } from "../view/find.ts";
import { latestByStep } from "../view/find-by-step.ts";
import { latestById, namespacesOf } from "../view/find-latest.ts";
import { findRef } from "../view/find-ref.ts";
import type { Shown } from "../view/row-at.ts";
import { checkpointOf, type Place, tupleOf, writesShown } from "./checkpoint.ts";
import { aheadOfHead, aheadOfId, aheadOfWrites, type ReadAhead } from "./read-ahead.ts";

/** Names the newest checkpoint, by its commit or by its id. */
interface Latest {
  readonly by: "commit" | "id";
}

/** The reads of one namespace of a thread: each reads the thread as it is now, then finds a row, then shows it. */
export class Reading<State> {
  readonly #context: EngineContext;
  readonly #place: Place;
  readonly #key: string;

  /** Takes the namespace as rows name it as `key`. */
  constructor(context: EngineContext, place: Place, key: string) {
    this.#context = context;
    this.#place = place;
    this.#key = key;
  }

  latest(by: "commit" | "step"): Promise<Checkpoint<State> | undefined> {
    const find = by === "step" ? latestByStep : headOf;
    return this.#show((tape) => find(this.#context, tape, this.#key), aheadOfHead(this.#context, this.#key));
  }

  async get(ref: CheckpointRef): Promise<Checkpoint<State> | undefined> {
    const context = this.#context;
    const find = (tape: Tape): Promise<Shown | undefined> => findRef(context, tape, this.#key, ref);
    if (typeof ref !== "string") return this.#show(find);
    try {
      return await this.#show(find, aheadOfId(context, ref));
    } catch (error) {
      throw named(error, this.#place.thread, ref);
    }
  }

  async tuple(at: CheckpointRef | Latest | undefined): Promise<CheckpointTuple<State> | undefined> {
    const context = this.#context;
    const ahead = typeof at === "string" ? aheadOfId(context, at, this.#key) : aheadOfHead(context, this.#key, true);
    const tape = await context.thread(this.#place.thread, ahead);
    if (tape) ahead.settle(tape);
    const row = tape && (await this.#find(tape, at));
    if (!tape || !row) return undefined;
    return (await tupleOf(context, tape, this.#place, row, ahead)) as CheckpointTuple<State> | undefined;
  }

  async writes(ref: CheckpointRef): Promise<readonly Write[]> {
    const ahead = aheadOfWrites(this.#context, this.#key, typeof ref === "string" ? [{ id: ref, seq: undefined }] : []);
    const tape = await this.#context.thread(this.#place.thread, ahead);
    if (!tape) return [];
    // An id need not be that of a checkpoint: writes may come before theirs.
    const id = typeof ref === "string" ? ref : (await this.#find(tape, ref))?.id;
    if (id === undefined) return [];
    const address = { thread: this.#place.thread, namespace: this.#key, id };
    return writesShown(this.#context, tape, address, ahead.writes(tape, id));
  }

  async diff(
    before: CheckpointRef | CheckpointElsewhere,
    after: CheckpointRef | CheckpointElsewhere,
  ): Promise<readonly Change[]> {
    const [left, right] = [await this.#stateOf(before), await this.#stateOf(after)];
    const { codec } = this.#context;
    const { changesBetween } = await import("../../model/changes.ts");
    const text = (value: unknown): string => JSON.stringify(codec.encode(value, "state").tree);
    return changesBetween(left, right, (one, other) => Object.is(one, other) || text(one) === text(other));
  }

  async size(): Promise<ThreadSize> {
    const tape = await this.#tape();
    if (!tape) throw threadNotFound(this.#place.thread);
    return (await import("./sizes.ts")).sizeOfThread(this.#context, tape);
  }

  async sizeOf(ref: CheckpointRef): Promise<CheckpointSize> {
    const tape = await this.#tape();
    const row = tape && (await this.#find(tape, ref));
    if (!tape || !row) throw notFound(this.#place.thread, ref);
    return (await import("./sizes.ts")).sizeOfCheckpoint(this.#context, tape, row);
  }

  async count(): Promise<number> {
    const tape = await this.#tape();
    return tape ? countOf(this.#context, tape, this.#key) : 0;
  }

  async namespaces(): Promise<readonly (readonly string[])[]> {
    const tape = await this.#tape();
    return tape ? [...(await namespacesOf(this.#context, tape))].sort().map(parseNamespaceKey) : [];
  }

  #tape(): Promise<Tape | undefined> {
    return this.#context.thread(this.#place.thread);
  }

  async #show(
    find: (tape: Tape) => Promise<Shown | undefined>,
    ahead?: ReadAhead,
  ): Promise<Checkpoint<State> | undefined> {
    const tape = await this.#context.thread(this.#place.thread, ahead);
    const records = tape && ahead?.settle(tape).records;
    const row = tape && (await find(tape));
    if (!tape || !row) return undefined;
    return (await checkpointOf(this.#context, tape, this.#place, row, { records })) as Checkpoint<State> | undefined;
  }

  #find(tape: Tape, at: CheckpointRef | Latest | undefined): Promise<Shown | undefined> {
    const byId = typeof at === "object" && "by" in at && at.by === "id";
    if (at === undefined || (typeof at === "object" && "by" in at)) {
      return (byId ? latestById : headOf)(this.#context, tape, this.#key);
    }
    return findRef(this.#context, tape, this.#key, at);
  }

  async #stateOf(side: CheckpointRef | CheckpointElsewhere): Promise<unknown> {
    if (isElsewhere(side)) {
      const place = { thread: side.thread, namespace: this.#place.namespace };
      return new Reading(this.#context, place, this.#key).#stateOf(side.at);
    }
    const checkpoint = await this.get(side);
    if (!checkpoint) throw notFound(this.#place.thread, side);
    return checkpoint.state;
  }
}
