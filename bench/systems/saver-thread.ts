import type { RunnableConfig } from "@langchain/core/runnables";
import {
  type BaseCheckpointSaver,
  type Checkpoint,
  type CheckpointMetadata,
  uuid6,
} from "@langchain/langgraph-checkpoint";
import type { State, Step } from "../workloads/workload.ts";
import type { Thread } from "./system.ts";

/** Makes ids in order, as LangGraph does. */
let clock = 0;

/** The checkpoint that LangGraph makes of a step before it calls its saver. */
interface Prepared {
  readonly checkpoint: Checkpoint;
  readonly metadata: CheckpointMetadata;
  readonly versions: Record<string, number>;
}

/** How many turns of the promises pass in a graph between the end of a task and the checkpoint of its step. */
const turnsBetween = 9;

/** A thread as LangGraph advances it: a step saves its tasks' writes, shortly afterwards the checkpoint, and waits for both. */
export class SaverThread implements Thread {
  protected readonly saver: BaseCheckpointSaver;
  protected config: RunnableConfig;
  readonly #thread: RunnableConfig;
  readonly #id: string;
  readonly #versions: Record<string, number> = {};
  readonly #ids: string[] = [];
  #step = -1;
  #prepared: Prepared | undefined;

  constructor(saver: BaseCheckpointSaver, id: string) {
    this.saver = saver;
    this.#id = id;
    this.#thread = { configurable: { thread_id: id, checkpoint_ns: "" } };
    this.config = this.#thread;
  }

  begin(state: State): Promise<void> {
    return this.put(state, Object.keys(state));
  }

  prepare({ state, update: { append = {}, set = {} } }: Step): void {
    this.#prepared = this.#prepare(state, [...Object.keys(append), ...Object.keys(set)]);
  }

  async step(step: Step): Promise<void> {
    if (this.#prepared === undefined) this.prepare(step);
    const prepared = this.#prepared as Prepared;
    this.#prepared = undefined;
    const writes = this.putWrites(step);
    for (let turn = 0; turn < turnsBetween; turn += 1) await undefined;
    await Promise.all([writes, this.#put(prepared)]);
  }

  async putWrites({ update: { append, set }, returned = { ...append, ...set }, tasks }: Step): Promise<void> {
    if (tasks === undefined)
      return this.saver.putWrites(this.config, Object.entries(returned), `task-${this.#ids.length}`);
    await Promise.all(
      tasks.map(({ task, channel, value }) => this.saver.putWrites(this.config, [[channel, value]], task)),
    );
  }

  /** The checkpoint alone, of which some channels are new. */
  put(state: State, changed: readonly string[]): Promise<void> {
    return this.#put(this.#prepare(state, changed));
  }

  #prepare(state: State, changed: readonly string[]): Prepared {
    this.#step += 1;
    const channels = [...changed, "branch:to:agent"];
    for (const channel of channels) this.#versions[channel] = this.#step + 1;
    clock += 1;
    return {
      checkpoint: {
        v: 4,
        id: uuid6(clock),
        ts: new Date().toISOString(),
        channel_values: { ...this.channelValues(state), "branch:to:agent": null },
        channel_versions: { ...this.#versions },
        versions_seen: { __input__: {}, agent: { "branch:to:agent": this.#step } },
      },
      metadata: { source: this.#step === 0 ? "input" : "loop", step: this.#step, parents: {} },
      versions: Object.fromEntries(channels.map((channel) => [channel, this.#versions[channel] as number])),
    };
  }

  async #put({ checkpoint, metadata, versions }: Prepared): Promise<void> {
    this.config = await this.saver.put(this.config, checkpoint, metadata, versions);
    this.#ids.push(checkpoint.id);
  }

  protected channelValues(state: State): State {
    return state;
  }

  async latest(): Promise<State> {
    return this.valuesAt(this.#thread);
  }

  async old(index: number): Promise<State> {
    return this.valuesAt({
      configurable: { thread_id: this.#id, checkpoint_ns: "", checkpoint_id: this.#ids[index] as string },
    });
  }

  protected async valuesAt(config: RunnableConfig): Promise<State> {
    const tuple = await this.saver.getTuple(config);
    const { "branch:to:agent": _, ...values } = tuple?.checkpoint.channel_values ?? {};
    return values;
  }

  /** A saver gives states always. */
  async history(limit: number | undefined): Promise<number> {
    let count = 0;
    for await (const _ of this.saver.list(this.#thread, limit === undefined ? {} : { limit })) count += 1;
    return count;
  }

  remove(): Promise<void> {
    return this.saver.deleteThread(this.#id);
  }
}
