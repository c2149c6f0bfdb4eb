import assert from "node:assert/strict";
import type { Store } from "../../src/store.ts";
import { exact } from "../../src/testing/index.ts";
import { collect, shaped, shapedInformation, wholeHistory } from "../../src/testing/snapshot.ts";
import { countOf, headOf, type Line, type NaiveThread, statusesOf } from "./naive/thread.ts";
import type { Free } from "./states.ts";
import type { Model } from "./system.ts";

/** Reads everything there is, in every way there is, and fails at the first difference from the model. */
export async function compareAll(model: Model, store: Store<Free>): Promise<void> {
  const threads = [...model.threads.values()].sort((left, right) =>
    Buffer.compare(Buffer.from(left.id), Buffer.from(right.id)),
  );
  const listed = await collect(store.threads());
  exact(
    listed.map(({ id }) => id),
    threads.map(({ id }) => id),
    "the list of threads",
  );
  for (const [index, thread] of threads.entries()) {
    const info = listed[index];
    assert.ok(info !== undefined);
    const head = headOf(thread);
    exact(shapedInformation(info.head), informationOf(shaped(head)), `the head of ${thread.id} in the list`);
    exact([info.workflow, info.checkpoints], [head.workflow, countOf(thread)], `the listed facts of ${thread.id}`);
    exact(info.forkedFrom && { ...info.forkedFrom }, thread.forkedFrom, `where ${thread.id} came from`);
    assert.ok(statusesOf(thread).includes(info.status), `status ${info.status} of ${thread.id}`);
    await compareThread(store, thread);
  }
  const { threads: threadCount, checkpoints } = await store.stats();
  exact([threadCount, checkpoints], [threads.length, threads.reduce((sum, one) => sum + countOf(one), 0)], "stats");
}

async function compareThread(store: Store<Free>, thread: NaiveThread): Promise<void> {
  const filled = [...thread.lines.values()].filter(({ checkpoints }) => checkpoints.length > 0);
  const names = (namespaces: readonly (readonly string[])[]): string[] =>
    namespaces
      .filter(({ length }) => length > 0)
      .map((one) => JSON.stringify(one))
      .sort();
  exact(
    names(await store.thread(thread.id).namespaces()),
    names(filled.map(({ namespace }) => namespace)),
    `the namespaces of ${thread.id}`,
  );
  for (const line of thread.lines.values()) await compareLine(store, thread, line);
}

async function compareLine(store: Store<Free>, thread: NaiveThread, line: Line): Promise<void> {
  const handle = store.thread(thread.id, { namespace: line.namespace });
  const place = `${thread.id} ${JSON.stringify(line.namespace)}`;
  const expected = line.checkpoints.map(shaped).reverse();
  exact((await wholeHistory(handle)).map(shaped), expected, `the history of ${place}`);
  exact((await collect(handle.history())).map(shapedInformation), expected.map(informationOf), `the list of ${place}`);
  assert.equal(await handle.count(), expected.length);
  exact(shapedOrNothing(await handle.latest()), expected[0], `the head of ${place}`);
  const greatest = line.checkpoints.reduce((best, one) => Math.max(best, one.step), Number.NEGATIVE_INFINITY);
  const byStep = line.checkpoints.findLast(({ step }) => step === greatest);
  exact((await handle.latest({ by: "step" }))?.id, byStep?.id, `the greatest step of ${place}`);
  if (byStep !== undefined) exact((await handle.get({ step: greatest }))?.id, byStep.id);
  // Single reads take another way than a walk: some from everywhere, without making each comparison quadratic.
  const stride = Math.max(1, Math.floor(expected.length / 12));
  for (const [index, one] of expected.entries()) {
    const writes = line.writes.get(one.id) ?? [];
    if (index % stride !== 0 && writes.length === 0) continue;
    const tuple = await handle.tuple(one.id);
    exact(shapedOrNothing(tuple?.checkpoint), one, `${one.id} in ${place}`);
    exact(tuple?.parent?.id ?? null, one.parent, `the parent of ${one.id} in ${place}`);
    exact(
      tuple?.writes.map(({ task, node, index: at, channel, value }) => ({ task, node, index: at, channel, value })),
      writes,
      `the writes of ${one.id} in ${place}`,
    );
  }
}

type Whole = Parameters<typeof shaped>[0];

function shapedOrNothing(checkpoint: Whole | undefined): Whole | undefined {
  return checkpoint === undefined ? undefined : shaped(checkpoint);
}

function informationOf(checkpoint: Whole): object {
  const { state, path, next, completed, interrupts, barriers, ...information } = checkpoint;
  return information;
}
