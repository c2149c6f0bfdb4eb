import { parseNamespaceKey } from "../../model/address.ts";
import type { Change, CheckpointSize, ThreadSize } from "../../model/arguments.ts";
import type { Checkpoint, CheckpointTuple, Write } from "../../model/checkpoint.ts";
import { named } from "../faults/damage.ts";
import { notFound, threadNotFound } from "../faults/missing.ts";
import type { Context } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import { countOf } from "../view/count.ts";
import { findById, headOf } from "../view/find.ts";
import { findByStep } from "../view/find-by-step.ts";
import type { Shown } from "../view/row-at.ts";
import { shownWrites } from "../view/shown-writes.ts";
import { checkpointOf, type Place, writeOf } from "./checkpoint.ts";
import { latestById, latestByStep, namespacesOf } from "./history.ts";
import { aheadOfHead, aheadOfId, aheadOfWrites, type ReadAhead } from "./read-ahead.ts";
import { tupleOf } from "./tuple.ts";

/** What can be asked of one namespace of a thread: each reads the thread as it is now, then finds a row, then shows it. */
export class Reading<State> {
  readonly #context: Context;
  readonly #place: Place;
  readonly #key: string;

  /** `key`: the namespace as rows name it. */
  constructor(context: Context, place: Place, key: string) {
    this.#context = context;
    this.#place = place;
    this.#key = key;
  }

  latest(by: "commit" | "step"): Promise<Checkpoint<State> | undefined> {
    const find = by === "step" ? latestByStep : headOf;
    return this.#show((tape) => find(this.#context, tape, this.#key), aheadOfHead(this.#context, this.#key));
  }

  async byId(id: string): Promise<Checkpoint<State> | undefined> {
    try {
      return await this.#show((tape) => findById(this.#context, tape, this.#key, id), aheadOfId(this.#context, id));
    } catch (error) {
      throw named(error, this.#place.thread, id);
    }
  }

  byStep(step: number): Promise<Checkpoint<State> | undefined> {
    return this.#show((tape) => findByStep(this.#context, tape, this.#key, step));
  }

  async tuple(at: string | { readonly by: "commit" | "id" } | undefined): Promise<CheckpointTuple<State> | undefined> {
    const context = this.#context;
    const ahead = typeof at === "string" ? aheadOfId(context, at, this.#key) : aheadOfHead(context, this.#key, true);
    const tape = await context.thread(this.#place.thread, ahead);
    if (tape) ahead.settle(tape);
    const row = tape && (await this.#find(tape, at));
    if (!tape || !row) return undefined;
    return (await tupleOf(context, tape, this.#place, row, ahead)) as CheckpointTuple<State> | undefined;
  }

  async writes(id: string): Promise<readonly Write[]> {
    const ahead = aheadOfWrites(this.#context, this.#key, [id]);
    const tape = await this.#context.thread(this.#place.thread, ahead);
    if (!tape) return [];
    const writes = await shownWrites(this.#context, tape, this.#key, id, ahead.writes(tape, id));
    return writes.map((write) => writeOf(this.#context, write));
  }

  async diff(a: string, b: string): Promise<readonly Change[]> {
    const [before, after] = [await this.#stateOf(a), await this.#stateOf(b)];
    const { codec } = this.#context;
    const { changesBetween } = await import("../../model/changes.ts");
    const text = (value: unknown): string => JSON.stringify(codec.encode(value, "state").tree);
    return changesBetween(before, after, (left, right) => Object.is(left, right) || text(left) === text(right));
  }

  async size(): Promise<ThreadSize> {
    const tape = await this.#tape();
    if (!tape) throw threadNotFound(this.#place.thread);
    return (await import("./measure.ts")).sizeOfThread(this.#context, tape);
  }

  async sizeOf(id: string): Promise<CheckpointSize> {
    const tape = await this.#tape();
    const row = tape && (await this.#find(tape, id));
    if (!tape || !row) throw notFound(this.#place.thread, id);
    return (await import("./measure.ts")).sizeOfCheckpoint(this.#context, tape, row);
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

  #find(tape: Tape, at: string | { readonly by: "commit" | "id" } | undefined): Promise<Shown | undefined> {
    if (typeof at === "string") return findById(this.#context, tape, this.#key, at);
    const latest = at?.by === "id" ? latestById : headOf;
    return latest(this.#context, tape, this.#key);
  }

  async #stateOf(id: string): Promise<State> {
    const checkpoint = await this.#show((tape) => findById(this.#context, tape, this.#key, id));
    if (!checkpoint) throw notFound(this.#place.thread, id);
    return checkpoint.state;
  }
}
