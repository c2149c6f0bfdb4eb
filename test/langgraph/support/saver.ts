import { randomUUID } from "node:crypto";
import type { RunnableConfig } from "@langchain/core/runnables";
import { type Checkpoint, type CheckpointMetadata, type CheckpointTuple, uuid6 } from "@langchain/langgraph-checkpoint";
import { afterEach, describe } from "vitest";
import { open } from "../../../src/api/open.ts";
import { type SaverOptions, ThreadmarkSaver } from "../../../src/langgraph/index.ts";
import type { OpenOptions } from "../../../src/model/interface/store-options.ts";
import { collect } from "../../support/collect.ts";
import { type BackendUnderTest, campaignLocations, type Place, redisUnderTest } from "../../support/places.ts";

/** Savers for a test: at a fresh place, and once more at the same one. All are closed after it. */
export interface Savers {
  readonly backend: BackendUnderTest;
  fresh(options?: SaverOptions & OpenOptions): Promise<ThreadmarkSaver>;
  again(options?: SaverOptions & OpenOptions): Promise<ThreadmarkSaver>;
  place(): Place;
}

/** The backends that the checkpointer is tested on. */
const saverLocations: readonly BackendUnderTest[] = [...campaignLocations, redisUnderTest];

export function onEveryBackend(name: string, cases: (savers: Savers) => void, backends = saverLocations): void {
  describe.each(backends)(`${name} on $name`, (backend) => {
    const places: Place[] = [];
    const savers: ThreadmarkSaver[] = [];
    const at = async (
      place: Place,
      { exclusive, ...options }: SaverOptions & OpenOptions,
    ): Promise<ThreadmarkSaver> => {
      const store = await open(place.url, { ...place.options, ...options });
      const saver = new ThreadmarkSaver(store, exclusive === undefined ? {} : { exclusive });
      savers.push(saver);
      return saver;
    };
    afterEach(async () => {
      for (const saver of savers.splice(0)) {
        await saver.close();
        await saver.store.close();
      }
      for (const place of places.splice(0)) await place.cleanup();
    });
    cases({
      backend,
      async fresh(options = {}) {
        places.push(await backend.make());
        return at(places.at(-1) as Place, options);
      },
      again: (options = {}) => at(places.at(-1) as Place, options),
      place: () => places.at(-1) as Place,
    });
  });
}

export function thread(id: string, checkpoint?: string): RunnableConfig {
  const configurable = { thread_id: id, checkpoint_ns: "" };
  return { configurable: checkpoint === undefined ? configurable : { ...configurable, checkpoint_id: checkpoint } };
}

/** A checkpoint with these values, all of them new. */
export function checkpointOf(values: Record<string, unknown>, version = 1, more: Partial<Checkpoint> = {}): Checkpoint {
  return {
    v: 4,
    id: uuid6(0),
    ts: new Date().toISOString(),
    channel_values: values,
    channel_versions: Object.fromEntries(Object.keys(values).map((channel) => [channel, version])),
    versions_seen: {},
    ...more,
  };
}

export const loop: CheckpointMetadata = { source: "loop", step: 0, parents: {} };

/** Puts a checkpoint and gives its config. */
export function put(
  saver: ThreadmarkSaver,
  config: RunnableConfig,
  values: Record<string, unknown>,
  version = 1,
): Promise<RunnableConfig> {
  const checkpoint = checkpointOf(values, version);
  return saver.put(config, checkpoint, loop, checkpoint.channel_versions);
}

export async function valuesAt(saver: ThreadmarkSaver, config: RunnableConfig): Promise<Record<string, unknown>> {
  return (await saver.getTuple(config))?.checkpoint.channel_values ?? {};
}

export async function listAll(
  saver: ThreadmarkSaver,
  config: RunnableConfig,
  options: Parameters<ThreadmarkSaver["list"]>[1] = {},
): Promise<CheckpointTuple[]> {
  return collect(saver.list(config, options));
}

export function newThread(): string {
  return randomUUID();
}
