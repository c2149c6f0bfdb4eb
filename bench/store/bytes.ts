import assert from "node:assert/strict";
import { open } from "../../src/index.ts";
import { bytesOf, type Place } from "../place.ts";
import { figure, type Report, target } from "../report.ts";
import { others, type State } from "../workloads.ts";

/** No workload may cost more than twice its changes, and 300 bytes a step. The first state is not counted. */
export async function measureBytes(place: Place, report: Report): Promise<void> {
  console.log("\nOther workloads: bytes on disk, put({ state })");
  for (const workload of others) {
    const file = place.file("bytes");
    const store = await open<State>(`sqlite:${file}`, { fsync: "normal" });
    const thread = store.thread("t");
    let state = workload.initial();
    let changed = 0;
    await thread.put({ state });
    const first = JSON.stringify(state).length;
    for (let index = 1; index <= workload.steps; index += 1) {
      const step = workload.step(state, index);
      state = step.state;
      changed += step.changed.length;
      await thread.put({ state, node: "step" });
    }
    assert.deepEqual((await thread.latest())?.state, state);
    await store.compact();
    await store.close();
    const cost = bytesOf(file) - first;
    figure(report, `${workload.name}: bytes a step`, cost / workload.steps);
    target(report, {
      name: `${workload.name}: of what is allowed`,
      value: cost / (2 * changed + 300 * workload.steps),
      limit: 1,
    });
  }
}
