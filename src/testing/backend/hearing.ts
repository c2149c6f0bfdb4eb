import assert from "node:assert/strict";
import type { Backend } from "../../backend.ts";
import { at, type BackendCase, backendCase, fill, text } from "./case.ts";

/** Milliseconds in which a commit must be heard: far more than it takes, so that a busy machine does not count as a fault. */
const SOON = 10_000;

async function heard(backend: Backend, commit: () => Promise<void>): Promise<void> {
  let stop: (() => void) | undefined;
  let timer: NodeJS.Timeout | undefined;
  const called = new Promise<void>((resolve, reject) => {
    stop = backend.hear?.(resolve);
    timer = setTimeout(() => reject(new assert.AssertionError({ message: "a commit was not heard" })), SOON);
  });
  try {
    await commit();
    if (backend.hear) await called;
  } finally {
    clearTimeout(timer);
    stop?.();
    called.catch(() => {});
  }
}

/** Hearing of commits: only for backends that have `hear`. */
export const hearingCases: readonly BackendCase[] = [
  backendCase("commits of a backend are heard by itself", async (backend) => {
    await heard(backend, () => fill(backend, [[at("meta", 1, 1), text(1)]]));
    await heard(backend, () => fill(backend, [[at("meta", 1, 1), text(2)]]));
  }),
  {
    name: "commits of another open backend are heard, from an empty store on",
    requires: "durable",
    run: async (open) => {
      const [own, other] = [await open(), await open()];
      try {
        await heard(other, () => fill(own, [[at("meta", 1, 1), text(1)]]));
        await heard(other, () => fill(own, [[at("meta", 1, 1), text(3)]]));
      } finally {
        await own.close();
        await other.close();
      }
    },
  },
  {
    name: "nobody is called after they have stopped to listen",
    run: async (open) => {
      const backend = await open();
      let calls = 0;
      const count = (): void => {
        calls += 1;
      };
      const stops = [backend.hear?.(count), backend.hear?.(count)];
      for (const stop of stops) stop?.();
      stops[0]?.();
      await fill(backend, [[at("meta", 1, 1), text(1)]]);
      assert.equal(calls, 0);
      await backend.close();
    },
  },
];
