import assert from "node:assert/strict";
import type { Store } from "../../src/api/store.ts";
import type { Thread } from "../../src/api/thread.ts";
import { exact } from "../../src/testing/index.ts";
import { shaped, shapedInformation, wholeHistory } from "../../src/testing/support/snapshot.ts";
import { collect } from "../support/collect.ts";
import { compareFinding } from "./compare-finding.ts";
import { countOf, headOf, type Line, type NaiveThread } from "./naive/thread.ts";
import type { Free } from "./states.ts";
import type { Model } from "./system.ts";

/** Reads everything there is, in every way there is, and fails at the first difference from the model. */
export async function compareAll(model: Model, store: Store<Free>, { bundled = false } = {}): Promise<void> {
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
    if (!bundled) exact(info.forkedFrom && { ...info.forkedFrom }, thread.forkedFrom, `where ${thread.id} came from`);
    await compareThread(store, thread);
  }
  await compareFinding(model, store, bundled);
  for (const thread of bundled ? [] : [...threads, ...model.empty.values()]) await compareOrphans(store, thread);
  for (const call of ["stats", "measure"] as const) {
    const { threads: threadCount, checkpoints } = await store[call]();
    exact([threadCount, checkpoints], [threads.length, threads.reduce((sum, one) => sum + countOf(one), 0)], call);
  }
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

/** Writes without a checkpoint. */
async function compareOrphans(store: Store<Free>, thread: NaiveThread): Promise<void> {
  for (const line of thread.lines.values()) {
    const handle = store.thread(thread.id, { namespace: line.namespace });
    for (const id of new Set([...line.writes.keys(), "waiting0", "waiting1", "a"])) {
      const found = (await handle.writes(id)).map(({ task, node, index, channel, value }) => ({
        task,
        node,
        index,
        channel,
        value,
      }));
      exact(found, line.writes.get(id) ?? [], `the writes of ${id} in ${thread.id} ${JSON.stringify(line.namespace)}`);
    }
  }
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
  await comparePages(handle, line, place);
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

/** Pages of some of a history, each from where the last one ended. */
async function comparePages(handle: Thread<Free>, line: Line, place: string): Promise<void> {
  const ids = line.checkpoints.map(({ id }) => id).reverse();
  const limit = Math.max(2, Math.ceil(ids.length / 5));
  for (const by of ["id", "seq"] as const) {
    const found: string[] = [];
    for (let before: string | number | undefined; ; ) {
      const page = await collect(handle.history({ limit, ...(before !== undefined && { before }) }));
      found.push(...page.map(({ id }) => id));
      before = page.at(-1)?.[by];
      if (page.length < limit) break;
    }
    exact(found, ids, `the pages of ${place}`);
  }
  const middle = line.checkpoints[Math.floor(line.checkpoints.length / 2)];
  for (const filter of [{ run: "r1" }, { source: "update" as const }, { run: "r2", source: "input" as const }]) {
    const chosen = line.checkpoints.filter(
      (one) =>
        (filter.run === undefined || one.run === filter.run) &&
        (filter.source === undefined || one.source === filter.source) &&
        (middle === undefined || one.seq < middle.seq),
    );
    const options = { ...filter, limit: 4, ...(middle && { before: middle.id }) };
    exact(
      (await wholeHistory(handle, options)).map(shaped),
      chosen.map(shaped).reverse().slice(0, 4),
      `some of the history of ${place}`,
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
