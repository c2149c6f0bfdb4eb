import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { MemorySaver } from "@langchain/langgraph-checkpoint";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { open } from "../../../src/api/open.ts";
import { ThreadmarkSaver } from "../../../src/langgraph/index.ts";
import { locations, type Place, redisUnderTest } from "../../support/places.ts";
import { scenarios } from "../graphs/all.ts";
import { describe as asText } from "../support/describe.ts";
import { dumpThread } from "../support/dump.ts";

const reader = fileURLToPath(new URL("../support/read.ts", import.meta.url));

/** Reads threads in a new process, which has nothing but what is stored. */
async function readElsewhere(place: Place, threads: readonly string[]): Promise<Record<string, string[]>> {
  const args = [reader, String(place.url), JSON.stringify(place.options ?? {}), ...threads];
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 1 << 28 });
  return JSON.parse(stdout) as Record<string, string[]>;
}

describe.each([...locations, redisUnderTest])("real graphs on $name", (backend) => {
  let place: Place;
  const outputs = new Map<string, unknown>();
  let dumps: Record<string, string[]> = {};

  beforeAll(async () => {
    place = await backend.make();
    const store = await open(place.url, place.options);
    const saver = new ThreadmarkSaver(store);
    for (const { name, run } of scenarios) outputs.set(name, await run(saver, name));
    await store.close();
    const threads = scenarios.map(({ name }) => name);
    if (backend.capabilities.durable) dumps = await readElsewhere(place, threads);
    else {
      const again = await open(place.url, place.options);
      for (const thread of threads) dumps[thread] = await dumpThread(new ThreadmarkSaver(again), thread);
      await again.close();
    }
  }, 300_000);

  afterAll(() => place.cleanup());

  it.each(scenarios)(
    "the graph $name gives the results of MemorySaver, and reads back the same",
    async ({ name, run }) => {
      const memory = new MemorySaver();
      const expected = await run(memory, name);
      expect(asText(outputs.get(name))).toBe(asText(expected));
      expect(dumps[name]).toEqual(await dumpThread(memory, name));
    },
  );
});
