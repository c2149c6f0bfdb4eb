import { deltaChannelHistoryTests, validate } from "@langchain/langgraph-checkpoint-validation";
import { beforeEach, expect, it } from "vitest";
import { open } from "../../../src/api/open.ts";
import { ThreadmarkSaver } from "../../../src/langgraph/index.ts";
import type { BackendUnderTest, Place } from "../../support/places.ts";

/** LangGraph's own suite for checkpointers: this many cases, none of them skipped. */
const cases = { core: 718, delta: 8 };

export function validateOn(backend: BackendUnderTest): void {
  const places = new Map<ThreadmarkSaver, Place>();
  const suite = {
    checkpointerName: "threadmark",
    createCheckpointer: async (): Promise<ThreadmarkSaver> => {
      const place = await backend.make();
      const saver = new ThreadmarkSaver(await open(place.url, place.options));
      places.set(saver, place);
      return saver;
    },
    destroyCheckpointer: async (saver: ThreadmarkSaver): Promise<void> => {
      await saver.store.close();
      await places.get(saver)?.cleanup();
    },
  };
  let ran = 0;
  beforeEach(() => {
    ran += 1;
  });
  validate(suite as never);
  deltaChannelHistoryTests(suite as never);
  it("the validation suite has run whole", () => {
    // Without vitest's globals the suite collects nothing, and a run is green and empty.
    expect(ran - 1).toBe(cases.core + cases.delta);
  });
}
