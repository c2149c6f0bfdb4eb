import "../../src/engine/commits/sealer.ts";

/** Waits until everything that is due has been sealed: rows are sealed beside the commits, in turns of the event loop. */
export async function seals(): Promise<void> {
  for (let turn = 0; turn < 60; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
