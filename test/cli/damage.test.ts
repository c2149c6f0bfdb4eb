import { DatabaseSync } from "node:sqlite";
import { beforeEach, expect, test } from "vitest";
import { seals } from "../support/seals.ts";
import { lines, records, storeWith, threadmark } from "./run.ts";

let url: string;

/** A store whose thread `hurt` has a damaged frame in its older checkpoints, on which the newer ones build. */
beforeEach(async () => {
  url = await storeWith(async (store) => {
    for (const id of ["well", "hurt"]) {
      const thread = store.thread(id);
      await thread.put({
        state: { topic: id === "hurt" ? "here it hurts" : "green tea", rest: "-".repeat(4_000) },
        next: ["ask"],
      });
      for (let n = 1; n < 80; n += 1) await thread.put({ update: { set: { n } }, node: "plan", next: ["ask"] });
      const interrupts = [{ id: "q", node: "ask", value: `${id}: publish?` }];
      await thread.put({ update: { set: { n: 80 } }, node: "plan", next: ["ask"], interrupts });
    }
    await seals();
  });
  damage("net");
});

/** Changes a text in the records of a table, so that their checksums do not match any more. */
function damage(table: "net" | "tail" | "meta"): void {
  const database = new DatabaseSync(url.slice("sqlite:".length));
  database.exec(`update ${table} set value = replace(value, 'here it hurts', 'there it hurt')`);
  database.exec(`update ${table} set value = replace(value, '"hurt: publish?"', '"hurt; publish?"')`);
  if (table === "meta") database.exec(`update meta set value = replace(value, '"hurt"', '"Hurt"')`);
  database.close();
}

test("history lists the checkpoints of a damaged thread, and says which does not read", async () => {
  const { code, out } = await threadmark(["history", "hurt", url], { terminal: { columns: 120 } });
  expect(code).toBe(0);
  expect(lines(out)).toHaveLength(82);
  expect(lines(out).filter((line) => line.includes("(damaged: see verify)"))).toHaveLength(1);
});

test("threads lists a damaged thread beside the others, and says so where its question would stand", async () => {
  const { code, out, err } = await threadmark(["threads", url], { terminal: { columns: 120 } });
  expect([code, err]).toEqual([0, ""]);
  expect(lines(out).find((line) => line.includes("hurt"))).toContain("(damaged: see verify)");
  expect(lines(out).find((line) => line.includes("well"))).toContain("well: publish?");
});

test("threads says how many threads cannot be listed because their own records are damaged", async () => {
  damage("tail");
  const { code, out, err } = await threadmark(["threads", url]);
  expect(lines(out)).toHaveLength(2);
  expect([code, err]).toEqual([0, "Not listed: 1 damaged thread. See verify.\n"]);
});

test("search and inbox go past a damaged thread, name it, and exit with 5", async () => {
  const passedOver = 'Passed over 1 damaged thread: "hurt". `verify` lists every fault; restore it from a backup.';
  const search = await threadmark(["search", "tea", url]);
  expect(search.out).toBe("well @80 topic  green tea\n");
  expect([search.code, search.err]).toEqual([5, `threadmark: ${passedOver}\n`]);
  const inbox = await threadmark(["inbox", "--json", url]);
  expect(records(inbox.out)).toMatchObject([{ thread: "well" }]);
  expect([inbox.code, records(inbox.err)]).toEqual([5, [{ error: { code: "CORRUPT", message: passedOver } }]]);
});

test("prune --all prunes the threads beside a damaged one, and prune of that one alone names the fault", async () => {
  const all = await threadmark(["prune", "--all", "--keep-last", "1", "--yes", "--json", url]);
  expect(records(all.out)).toMatchObject([{ thread: "well", deleted: 80 }]);
  expect([all.code, all.err]).toEqual([5, expect.stringContaining("hurt")]);
  const one = await threadmark(["prune", "hurt", "--keep-last", "1", "--yes", url]);
  expect([one.code, one.err]).toEqual([1, expect.stringContaining("A stored value is damaged")]);
});

test("verify prints five faults of a thread and counts the rest; --json lists them all", async () => {
  const [whole] = records((await threadmark(["verify", url, "--json"])).out) as { faults: unknown[] }[];
  const count = whole!.faults.length;
  expect(count).toBeGreaterThan(64);
  const { code, out, err } = await threadmark(["verify", url]);
  expect([code, err]).toEqual([5, `threadmark: ${count} faults found.\n`]);
  expect(lines(out)).toHaveLength(6);
  expect(lines(out).at(-1)).toBe(`hurt: ${count - 5} more faults; --json lists them all`);
});

test("compact goes past a damaged thread, tells what it gave back, names the thread, and exits with 5", async () => {
  damage("tail");
  const passedOver = 'Passed over 1 damaged thread: "hurt". `verify` lists every fault; restore it from a backup.';
  const { code, out, err } = await threadmark(["compact", "--json", url]);
  expect(records(out)).toMatchObject([{ before: expect.any(Number) as number, after: expect.any(Number) as number }]);
  expect([code, records(err)]).toEqual([5, [{ error: { code: "CORRUPT", message: passedOver } }]]);
});

test("erase --compact tells what was erased before it names a damaged thread, and exits with 5", async () => {
  damage("tail");
  const { code, out, err } = await threadmark(["erase", "well", "rest", "--compact", "--yes", "--json", url]);
  expect(records(out)).toMatchObject([{ thread: "well", erased: { length: 81 } }]);
  expect([code, records(err)]).toMatchObject([5, [{ error: { code: "CORRUPT" } }]]);
});

test("sweep goes past damaged threads, says how many there are, and exits with 5", async () => {
  url = await storeWith(async (store) => {
    for (const id of ["well", "hurt"]) await store.thread(id).put({ state: {} });
  });
  damage("meta");
  const passedOver = "Passed over 1 damaged thread: `verify` names them. Restore them from a backup.";
  const { code, out, err } = await threadmark(["sweep", "--idle", "0ms", "--yes", "--json", url]);
  expect(records(out)).toMatchObject([{ threads: 1, damaged: 1 }]);
  expect([code, records(err)]).toEqual([5, [{ error: { code: "CORRUPT", message: passedOver } }]]);
  expect((await threadmark(["stats", url])).out).toContain("left alone: 1 damaged thread");
});

test("reindex indexes the threads beside a damaged one, which it names, and exits with 5", async () => {
  damage("tail");
  const { code, err } = await threadmark(["reindex", url]);
  expect([code, err]).toEqual([
    5,
    expect.stringContaining('Passed over 1 damaged thread and what shares their history: "hurt".'),
  ]);
});

test("verify reports a damaged record of the first thread of a workflow", async () => {
  url = await storeWith(async (store) => {
    for (const id of ["hurt", "well"]) await store.thread(id).put({ state: {}, workflow: "w" });
  });
  damage("meta");
  const { code, out, err } = await threadmark(["verify", url]);
  expect([code, err]).toEqual([5, "threadmark: 1 fault found.\n"]);
  expect(out).toContain("hurt");
});
