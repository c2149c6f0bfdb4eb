import { setTimeout as wait } from "node:timers/promises";
import type { Store } from "../api/store.ts";
import { researchAgent } from "./agent.ts";

const INTERVAL = 500;

/** Continues answered threads until `signal`, so that an answer given on the page takes effect. */
export async function runAnswered(store: Store, calls: string, pace: number, signal: AbortSignal): Promise<void> {
  const agent = researchAgent({ store, calls, pace });
  while (!signal.aborted) {
    await agent.recover();
    await wait(INTERVAL, undefined, { signal }).catch(() => undefined);
  }
}
