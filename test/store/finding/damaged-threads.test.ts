import { expect, test } from "vitest";
import { open } from "../../../src/api/open.ts";
import type { Store } from "../../../src/api/store.ts";
import type { Backend } from "../../../src/backend.ts";
import { memory } from "../../../src/backends/memory/index.ts";
import { idsOf } from "../../support/collect.ts";
import { damage } from "../../support/damaged-records.ts";
import { sharedBackend } from "../../support/shared-backend.ts";

const day = 24 * 60 * 60 * 1000;
const then = Date.UTC(2026, 0, 1);

/** Opens a store anew, so that nothing is remembered of it. */
function reopened(backend: Backend): Promise<Store> {
  return open(sharedBackend(backend), { clock: () => then });
}

test("counts, lists of running threads and of due ones pass over a damaged thread", async () => {
  const backend = memory();
  const filling = await reopened(backend);
  for (const id of ["a", "b", "c"]) {
    await filling.thread(id).put({ state: {}, workflow: "w", next: ["act"], due: then });
  }
  await damage(backend, "a", "meta");
  const store = await reopened(backend);
  expect((await store.counts()).workflows).toMatchObject({ w: { paused: 3 } });
  const due: string[] = [];
  for await (const { thread } of store.due({ workflow: "w" })) due.push(thread);
  expect(due).toEqual(["b", "c"]);
  for (const id of ["b", "c"]) await store.thread(id).acquire({ ttl: day });
  await damage(backend, "b", "meta");
  const other = await reopened(backend);
  expect(await idsOf(other.threads({ status: "running" }))).toEqual(["c"]);
  expect((await other.counts()).status.running).toBe(1);
});

test("a list of questions passes over a thread whose answers do not read", async () => {
  const backend = memory();
  const filling = await reopened(backend);
  for (const id of ["a", "b", "c"]) {
    const interrupts = ["1", "2"].map((question) => ({ id: question, node: "ask", value: `${id}?` }));
    await filling.thread(id).put({ id: `${id}1`, state: {}, next: ["ask"], interrupts });
    await filling.thread(id).putWrites(`${id}1`, { task: "1", writes: [{ channel: "r", index: -4, value: "yes" }] });
  }
  await damage(backend, "b", "write");
  const asked: string[] = [];
  for await (const { thread, id } of (await reopened(backend)).interrupts()) asked.push(`${thread}${id}`);
  expect(asked.sort()).toEqual(["a2", "c2"]);
});

test("a watch passes over a thread whose own record is damaged, and tells the changes of others", async () => {
  const backend = memory();
  const writer = await reopened(backend);
  const { cursor } = await new Promise<{ cursor: string }>((resolve, reject) => {
    void (async () => {
      for await (const change of writer.watch()) return resolve(change);
    })().catch(reject);
    void writer.thread("a").put({ state: {} }).catch(reject);
  });
  for (const id of ["a", "b", "c"]) await writer.thread(id).put({ id: `${id}-new`, state: {} });
  await damage(backend, "b", "meta");
  const told: string[] = [];
  for await (const { id } of (await reopened(backend)).watch({ after: cursor })) {
    told.push(id ?? "");
    if (told.length === 2) break;
  }
  expect(told.sort()).toEqual(["a-new", "c-new"]);
});
