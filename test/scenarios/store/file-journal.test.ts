import { spawnSync } from "node:child_process";
import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { open } from "../../../src/api/open.ts";
import type { Store } from "../../../src/api/store.ts";
import { idsOf } from "../../support/collect.ts";
import { folderForEach } from "../../support/folders-of-tests.ts";

interface State {
  readonly n: number;
  readonly text?: string;
}

const path = folderForEach();
const openStore = (): Promise<Store<State>> => open<State>(`file:${path("store")}`);

/** The journal of the only lineage whose lines hold a text. */
function journalWith(text: string): string {
  const names = readdirSync(path("store")).filter((name) => name !== "directory.jsonl");
  const found = names.find((name) => readFileSync(path("store", name)).includes(text));
  return path("store", found as string);
}

describe("what the source systems must find on file", () => {
  test("tinyagents 20: the last line torn, latest is the last whole record, the next put is readable, nothing else lost", async () => {
    let store = await openStore();
    await store.thread("other").put({ state: { n: 100 } });
    for (let n = 1; n <= 3; n++) await store.thread("t").put({ id: `c${n}`, state: { n } });
    await store.close();
    const journal = journalWith('"c3"');
    const whole = readFileSync(journal);
    writeFileSync(journal, whole.subarray(0, whole.length - 20));
    store = await openStore();
    const thread = store.thread("t");
    expect((await thread.latest())?.state).toEqual({ n: 2 });
    const { ok, faults } = await store.verify();
    expect([ok, faults.length]).toEqual([false, 1]);
    await thread.put({ id: "c4", state: { n: 4 } });
    expect((await thread.latest())?.state).toEqual({ n: 4 });
    expect((await store.thread("other").latest())?.state).toEqual({ n: 100 });
    expect(await store.verify()).toEqual({ ok: true, faults: [] });
    await store.close();
    store = await openStore();
    const ids = await idsOf(store.thread("t").history());
    expect(ids).toEqual(["c4", "c2", "c1"]);
    await store.close();
  });

  test("simple-agents 2: reading from a directory that does not exist makes nothing; a put makes it, nested", async () => {
    const store = await open<State>(`file:${path("not", "there", "yet")}`);
    expect(await store.thread("t").latest()).toBeUndefined();
    expect((await store.stats()).threads).toBe(0);
    expect(await store.verify()).toEqual({ ok: true, faults: [] });
    await store.compact();
    expect(existsSync(path("not"))).toBe(false);
    await store.thread("t").put({ state: { n: 1 } });
    expect((await store.thread("t").latest())?.state).toEqual({ n: 1 });
    await store.close();
  });

  const hasJq = spawnSync("/usr/bin/env", ["jq", "--version"]).status === 0;
  test.skipIf(!hasJq)("simple-agents 5: jq prints the last record's step, node and change (needs jq)", async () => {
    const store = await openStore();
    for (let step = 1; step <= 5; step++) await store.thread("t").put({ state: { n: step }, step, node: "plan" });
    await store.close();
    const input = readFileSync(journalWith('"step":5'), "utf8").trimEnd().split("\n").at(-1) as string;
    const filter = ".value | {step, node, change}";
    const { stdout } = spawnSync("/usr/bin/env", ["jq", "-c", filter], { input, encoding: "utf8" });
    expect(JSON.parse(stdout)).toMatchObject({ step: 5, node: "plan", change: expect.anything() });
  });

  test("simple-agents 6: damage before the last batch is CORRUPT, all else and other lineages read", async () => {
    let store = await openStore();
    await store.thread("other").put({ state: { n: 100 } });
    const thread = store.thread("t");
    await thread.put({ id: "c1", state: { n: 1, text: "first" } });
    await thread.put({ id: "c2", state: { n: 2, text: "second" } }, { parent: null });
    await thread.put({ id: "c3", state: { n: 3, text: "third" } }, { parent: null });
    await store.close();
    const journal = journalWith('"c2"');
    const bytes = readFileSync(journal);
    bytes[bytes.indexOf("second")] = 0x53;
    writeFileSync(journal, bytes);
    store = await openStore();
    const damaged = store.thread("t");
    await expect(damaged.get("c2")).rejects.toMatchObject({ code: "CORRUPT", thread: "t", checkpoint: "c2" });
    expect((await damaged.get("c1"))?.state).toEqual({ n: 1, text: "first" });
    expect((await damaged.latest())?.state).toEqual({ n: 3, text: "third" });
    expect((await store.thread("other").latest())?.state).toEqual({ n: 100 });
    expect((await store.verify()).ok).toBe(false);
    await store.close();
  });

  test("simple-agents 8: cut off at any byte of a put, the earlier checkpoint still reads", async () => {
    let store = await openStore();
    const thread = store.thread("t");
    await thread.put({ id: "first", state: { n: 1, text: "x".repeat(300) } });
    const journal = journalWith('"first"');
    const before = readFileSync(journal);
    await thread.put({ id: "second", state: { n: 2, text: "y".repeat(300) } });
    await store.close();
    const after = readFileSync(journal);
    for (let length = before.length; length < after.length; length += 7) {
      writeFileSync(journal, before);
      appendFileSync(journal, after.subarray(before.length, length));
      store = await openStore();
      const latest = await store.thread("t").latest();
      expect([latest?.id, latest?.state.n]).toEqual(["first", 1]);
      await store.close();
    }
  });
});
