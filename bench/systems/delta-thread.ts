import type { RunnableConfig } from "@langchain/core/runnables";
import { DeltaChannel } from "@langchain/langgraph";
import { DeltaSnapshot, isDeltaSnapshot } from "@langchain/langgraph-checkpoint";
import type { State } from "../workloads/workload.ts";
import { SaverThread } from "./saver-thread.ts";

/** DeltaChannel's own default: so many updates, then the whole value once. */
const snapshotEvery = 1_000;

/** A thread whose `messages` are a DeltaChannel: kept as the tasks' writes, and as a snapshot now and then. */
export class DeltaThread extends SaverThread {
  #updates = -1;

  protected override channelValues(state: State): State {
    this.#updates += 1;
    if (this.#updates % snapshotEvery === 0) return { ...state, messages: new DeltaSnapshot(state["messages"]) };
    const { messages: _, ...others } = state;
    return others;
  }

  protected override async valuesAt(config: RunnableConfig): Promise<State> {
    const values = await super.valuesAt(config);
    if (isDeltaSnapshot(values["messages"])) return { ...values, messages: values["messages"].value };
    const { messages: history } = await this.saver.getDeltaChannelHistory({
      config: await this.#exact(config),
      channels: ["messages"],
    });
    const added = (before: unknown[], writes: unknown[]): unknown[] => before.concat(...(writes as unknown[][]));
    const channel = new DeltaChannel<unknown[], unknown[]>(added as never).fromCheckpoint(history?.seed as never);
    channel.replayWrites(history?.writes ?? []);
    return { ...values, messages: channel.get() };
  }

  /** The history of a channel is asked for by the checkpoint's id. */
  async #exact(config: RunnableConfig): Promise<RunnableConfig> {
    if (config.configurable?.["checkpoint_id"] !== undefined) return config;
    return (await this.saver.getTuple(config))?.config as RunnableConfig;
  }
}
