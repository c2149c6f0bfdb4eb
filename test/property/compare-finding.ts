import assert from "node:assert/strict";
import type { Store } from "../../src/api/store.ts";
import type { ThreadInfo } from "../../src/model/checkpoint.ts";
import type { ThreadsOptions } from "../../src/model/interface/store-options.ts";
import { type Status, statuses } from "../../src/model/status.ts";
import { exact } from "../../src/testing/index.ts";
import { collect } from "../support/collect.ts";
import { type Facts, isSought, openQuestions, statusOf, updatedAt } from "./naive/finding.ts";
import { headOf, type NaiveThread } from "./naive/thread.ts";
import type { Free } from "./states.ts";
import type { Model } from "./system.ts";

interface Known extends Facts {
  readonly thread: NaiveThread;
}

/** Compares all that finds threads with the model: lists by every filter, in both orders, in pages; questions, counts, what is due. */
export async function compareFinding(model: Model, store: Store<Free>, bundled: boolean): Promise<void> {
  const known = new Map<string, Known>();
  for (const thread of model.threads.values()) {
    const lease = bundled ? undefined : model.leases.get(thread.id);
    const isRunning = lease !== undefined && lease.expires > model.now;
    const status = isRunning ? "running" : statusOf(thread);
    known.set(thread.id, { thread, status, updatedAt: updatedAt(thread, bundled) });
  }
  const all = await collect(store.threads({ order: "updated" }));
  for (const info of all) compareInfo(known.get(info.id), info);
  for (const query of queries(model)) await compareList(store, known, query);
  await comparePages(store, all);
  await compareQuestions(store, known);
  await compareCounts(store, known);
  if (!bundled) await compareDue(model, store, known);
}

function compareInfo(known: Known | undefined, info: ThreadInfo): void {
  assert.ok(known !== undefined, `${info.id} is in the list by activity, and no thread`);
  const { thread } = known;
  exact([info.status, info.updatedAt], [known.status, known.updatedAt], `what a list tells of ${info.id}`);
  assert.deepEqual({ ...info.attributes }, thread.attributes, `the attributes of ${info.id}`);
}

function queries({ now }: Model): readonly ThreadsOptions[] {
  return [
    {},
    ...statuses.map((status) => ({ status })),
    { status: ["waiting", "paused", "running"], workflow: "w1" },
    { workflow: "w2" },
    { run: "r1" },
    { run: "r2", workflow: "w1" },
    { where: { tenant: "acme" } },
    { where: { tenant: { prefix: "a" }, cost: { gt: 1 } } },
    { where: { cost: { lte: 1 } }, status: ["done", "paused"] },
    { where: { cost: { in: [-1, 2] }, tenant: { ne: "acme" } } },
    { updatedAfter: now - 1 },
    { updatedBefore: now, prefix: "t" },
  ];
}

async function compareList(
  store: Store<Free>,
  known: ReadonlyMap<string, Known>,
  query: ThreadsOptions,
): Promise<void> {
  const what = `the threads of ${JSON.stringify(query)}`;
  const sought = [...known.values()].filter(({ thread, ...facts }) => isSought(thread, facts, query));
  const ids = sought
    .map(({ thread }) => thread.id)
    .sort((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)));
  const byId = (await collect(store.threads(query))).map(({ id }) => id);
  exact(byId, ids, what);
  const newest = await collect(store.threads({ ...query, order: "updated" }));
  assert.deepEqual(newest.map(({ id }) => id).sort(), byId.toSorted(), `${what} by activity`);
  const times = newest.map((info) => info.updatedAt);
  const ordered = times.toSorted((left, right) => right - left);
  exact(times, ordered, `the order of ${what}`);
}

async function comparePages(store: Store<Free>, all: readonly ThreadInfo[]): Promise<void> {
  const found: string[] = [];
  for (let after: string | undefined; ; ) {
    const page = await collect(store.threads({ order: "updated", limit: 2, ...(after !== undefined && { after }) }));
    found.push(...page.map(({ id }) => id));
    after = page.at(-1)?.cursor;
    if (page.length < 2) break;
  }
  exact(
    found,
    all.map(({ id }) => id),
    "the pages of the list by activity",
  );
}

async function compareQuestions(store: Store<Free>, known: ReadonlyMap<string, Known>): Promise<void> {
  const text = (thread: string, checkpoint: string, count: number): string =>
    JSON.stringify([thread, checkpoint, count]);
  const expected = [...known.values()]
    .filter(({ status }) => status === "waiting")
    .map(({ thread }) => text(thread.id, headOf(thread).id, openQuestions(thread).length));
  const found = new Map<string, { checkpoint: string; count: number }>();
  for (const { thread, checkpoint } of await collect(store.interrupts())) {
    found.set(thread, { checkpoint, count: (found.get(thread)?.count ?? 0) + 1 });
  }
  const told = [...found].map(([thread, { checkpoint, count }]) => text(thread, checkpoint, count));
  assert.deepEqual(told.sort(), expected.sort(), "the open questions");
}

async function compareCounts(store: Store<Free>, known: ReadonlyMap<string, Known>): Promise<void> {
  const { threads, status, workflows } = await store.counts();
  const count = (filter: (one: Known) => boolean): Record<Status, number> => {
    const chosen = [...known.values()].filter(filter);
    const of = (wanted: Status): number => chosen.filter((one) => one.status === wanted).length;
    return Object.fromEntries(statuses.map((wanted) => [wanted, of(wanted)])) as Record<Status, number>;
  };
  assert.equal(threads, known.size, "the number of threads");
  assert.deepEqual(
    { ...status },
    count(() => true),
    "the counts by status",
  );
  const names = new Set([...known.values()].map(({ thread }) => headOf(thread).workflow ?? ""));
  assert.deepEqual(Object.keys(workflows).sort(), [...names].sort(), "the workflows");
  for (const name of names) {
    const own = count(({ thread }) => (headOf(thread).workflow ?? "") === name);
    assert.deepEqual({ ...workflows[name] }, own, `the counts of workflow ${JSON.stringify(name)}`);
  }
}

async function compareDue(model: Model, store: Store<Free>, known: ReadonlyMap<string, Known>): Promise<void> {
  for (const workflow of ["w1", null]) {
    const expected = [...known.values()]
      .filter(({ thread, status }) => headOf(thread).workflow === workflow && status !== "running")
      .flatMap(({ thread: { id, due } }) => (due === null || due > model.now ? [] : [{ thread: id, due }]));
    const found = await collect(store.due({ workflow }));
    const text = ({ thread, due }: { thread: string; due: number }): string => JSON.stringify([thread, due]);
    assert.deepEqual(found.map(text).sort(), expected.map(text).sort(), `the due threads of ${workflow}`);
    const times = found.map(({ due }) => due);
    exact(
      times,
      times.toSorted((left, right) => left - right),
      "the order of due threads",
    );
  }
}
