import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { sqlite } from "../../../src/backends/sqlite/index.ts";
import { folderForEach } from "../../support/folders-of-tests.ts";
import { get, put, tail } from "../support/tail-records.ts";

const path = folderForEach();

/** A connection that holds the write lock until it is told to let go. */
function lock(file: string): () => void {
  const database = new DatabaseSync(file);
  database.exec("BEGIN IMMEDIATE");
  return () => {
    database.exec("COMMIT");
    database.close();
  };
}

describe("waiting for the write lock", () => {
  test("commits wait for another process's transaction, and are applied in the order they were called", async () => {
    const backend = await sqlite(path("agent.db"));
    await put(backend, 0, "t1........0");
    const release = lock(path("agent.db"));
    const commits = Array.from({ length: 20 }, (_, index) =>
      backend.commit([{ puts: [{ key: tail(1), value: `t1........${index}` }] }]),
    );
    expect(await get(backend, 1)).toBeUndefined();
    setTimeout(release, 50);
    expect(await Promise.all(commits)).toEqual(commits.map(() => [true]));
    expect(await get(backend, 1)).toBe("t1........19");
    await backend.close();
  });

  test("a wait longer than busyTimeout ends in BUSY with nothing written, and the next commit works", async () => {
    const backend = await sqlite(path("agent.db"), { busyTimeout: 40 });
    await put(backend, 0, "t1........0");
    const release = lock(path("agent.db"));
    const commits = [1, 2].map((item) => backend.commit([{ puts: [{ key: tail(item), value: "t1........x" }] }]));
    for (const settled of await Promise.allSettled(commits)) {
      expect(settled).toMatchObject({ status: "rejected", reason: { code: "BUSY", cause: expect.anything() } });
    }
    release();
    expect(await get(backend, 1)).toBeUndefined();
    await put(backend, 1, "t1........1");
    expect(await get(backend, 1)).toBe("t1........1");
    await backend.close();
  });

  test("a store that creates its schema waits for the write lock, too", async () => {
    const first = new DatabaseSync(path("agent.db"));
    first.exec("BEGIN EXCLUSIVE");
    setTimeout(() => {
      first.exec("COMMIT");
      first.close();
    }, 50);
    const backend = await sqlite(path("agent.db"));
    await put(backend, 1, "t1........1");
    expect(await get(backend, 1)).toBe("t1........1");
    await backend.close();
  });

  test("a loop of commits lets the event loop turn", async () => {
    const backend = await sqlite(path("agent.db"), { fsync: "normal" });
    await put(backend, 0, "t1........x");
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    // Without turns this would end at the limit, after seconds; with them after milliseconds.
    for (let item = 1; turns === 0 && item < 200_000; item++) await put(backend, item, "t1........x");
    clearInterval(timer);
    expect(turns).toBeGreaterThan(0);
    await backend.close();
  });
});
