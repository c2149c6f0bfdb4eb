import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { open } from "../../../src/api/open.ts";
import type { Store } from "../../../src/api/store.ts";
import type { Backend, Table } from "../../../src/backend.ts";
import { memory } from "../../../src/backends/memory/index.ts";
import { collect, idsOf } from "../../support/collect.ts";
import { damage } from "../../support/damaged-records.ts";
import { folderForEach } from "../../support/folders-of-tests.ts";
import { sharedBackend } from "../../support/shared-backend.ts";

const path = folderForEach();

/** Opens a store anew, so that nothing is remembered of it. */
function reopened(backend: Backend): Promise<Store> {
  return open(sharedBackend(backend), { packRows: 4, largeValues: { from: 100 } });
}

async function filled(): Promise<Backend> {
  const backend = memory();
  const store = await reopened(backend);
  for (const id of ["a", "b", "c"]) {
    for (let n = 0; n < 10; n += 1) await store.thread(id).put({ id: `${n}`, state: { n, text: id.repeat(200) } });
    await store.thread(id).putWrites("9", { task: "t", writes: [{ channel: "c", value: id }] });
  }
  await store.close();
  return backend;
}

const tables = ["directory", "meta", "tail", "rows", "net", "steps", "write", "value"] as const satisfies (
  | "directory"
  | Table
)[];

test("an export and a backup of a store with a damaged thread name the thread, and how to save the others", async () => {
  for (const table of tables) {
    const backend = await filled();
    await damage(backend, "b", table);
    const store = await reopened(backend);
    const refusal = {
      code: "CORRUPT",
      thread: "b",
      message: expect.stringMatching(
        /^Thread "b" is damaged, and no export or backup leaves a thread out by itself: .*export\(\{ threads \}\)/,
      ) as string,
    };
    await expect(collect(store.export()), table).rejects.toMatchObject(refusal);
    await expect(collect(store.export({ threads: ["a", "b"] })), table).rejects.toMatchObject(refusal);
    await expect(store.backup(path("all.bundle")), table).rejects.toMatchObject(refusal);
    expect(readdirSync(join(path("all.bundle"), "..")), table).toEqual([]);
    const saved = await open("memory:");
    await saved.import(store.export({ threads: ["a", "c"] }));
    expect(await idsOf(saved.threads()), table).toEqual(["a", "c"]);
  }
});

test("a backup since a cursor leaves out a damaged thread that was not changed since, and refuses one that was", async () => {
  for (const table of ["tail", "meta"] as const) {
    const backend = await filled();
    const store = await reopened(backend);
    const { cursor } = await store.backup(path(`${table}.bundle`));
    await store.thread("a").put({ state: { n: 10 } });
    await damage(backend, "c", table);
    const { threads } = await (await reopened(backend)).backup(path(`${table}-1.bundle`), { since: cursor });
    expect(threads, table).toBe(1);
    await store.thread("b").put({ state: { n: 10 } });
    // The only row that was added is the damaged one: nothing else tells that the thread was changed.
    await damage(backend, "b", table);
    await expect(
      (await reopened(backend)).backup(path(`${table}-2.bundle`), { since: cursor }),
      table,
    ).rejects.toMatchObject({
      code: "CORRUPT",
      message: expect.stringContaining("is damaged, and no export") as string,
    });
  }
});
