import { expect, test } from "vitest";
import { records, storeWith, threadmark, threeSteps } from "../run.ts";

test("sweep says what would go, asks, deletes, and stats tell of it", async () => {
  const url = await storeWith(threeSteps);
  const rules = ["--keep-last", "1", "--idle", "30d", "--status", "done"];
  const dry = await threadmark(["sweep", ...rules, url, "--dry-run", "--json"]);
  expect(records(dry.out)[0]).toMatchObject({ threads: 0, checkpoints: 2, spared: 0, dryRun: true });
  const unasked = await threadmark(["sweep", ...rules, url]);
  expect([unasked.code, unasked.err]).toEqual([6, expect.stringContaining("pass --yes to do it")]);
  const done = await threadmark(["sweep", ...rules, "--yes", url]);
  expect([done.code, done.err]).toEqual([0, expect.stringContaining("Deleted 0 threads and 2 checkpoints of others")]);
  const [stats] = records((await threadmark(["stats", url, "--json"])).out);
  expect(stats?.["sweep"]).toMatchObject({ checkpoints: 2, next: null });
  expect((await threadmark(["stats", url])).out).toContain("last sweep");
});

test("sweep without a rule, or with a status that is spared, is wrong usage", async () => {
  const url = await storeWith(threeSteps);
  for (const parameters of [[], ["--status", "done"], ["--idle", "1d", "--status", "waiting"], ["--idle", "soon"]]) {
    expect([parameters, (await threadmark(["sweep", ...parameters, "--yes", url])).code]).toEqual([parameters, 2]);
  }
});
