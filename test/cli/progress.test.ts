import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { folderOfTest } from "../support/folders-of-tests.ts";
import { lines, records, storeWith, threadmark, threeSteps } from "./run.ts";

const CLEARED = "\r\u001b[2K";
const terminal = { columns: 80 };

test("long work shows a bar on a terminal, takes it away, and says nothing of it in a pipe", async () => {
  const url = await storeWith(threeSteps);
  const bundle = join(folderOfTest(), "all.bundle");
  const works: [parameters: string[], shown: RegExp][] = [
    [["verify"], /verifying, threads: ░+ 0 of 1/],
    [["compact"], /compacting, threads: ░+ 0 of 1/],
    [["export", "--output", bundle], /exporting, checkpoints: ░+ 0 of 3/],
    [["export", "user-42", "--output", bundle], /exporting, checkpoints: ░+ 0 of 3/],
    [["import", bundle], /importing, bytes: █+ ([\d,]+) of \1/],
    [["prune", "--all", "--keep-last", "1", "--yes"], /pruning, threads: ░+ 0 of 1/],
  ];
  for (const [parameters, shown] of works) {
    const watched = await threadmark([...parameters, url], { terminal });
    expect([parameters, watched.code]).toEqual([parameters, 0]);
    expect(watched.err).toMatch(shown);
    expect(watched.err.slice(watched.err.lastIndexOf(CLEARED))).not.toMatch(/[█░]/);
    const piped = await threadmark([...parameters, url]);
    expect([parameters, piped.code]).toEqual([parameters, 0]);
    expect(piped.err).not.toContain(CLEARED);
    expect(piped.err).not.toMatch(/[█░]/);
  }
});

test("a work that fails leaves no bar in front of what it says", async () => {
  const url = await storeWith(threeSteps);
  const bundle = join(folderOfTest(), "x.bundle");
  writeFileSync(bundle, "not a bundle\n");
  const { code, err } = await threadmark(["import", bundle, url], { terminal });
  expect(code).toBe(1);
  // In red on a terminal: the colour begins where the bar was cleared.
  expect(err).toContain(`${CLEARED}\u001b[31m\u001b[1mthreadmark:\u001b[22m\u001b[39m Line 1 of the bundle is damaged`);
});

test("long work that is interrupted ends with 130, and leaves the rest alone", async () => {
  const url = await storeWith(threeSteps);
  const bundle = join(folderOfTest(), "all.bundle");
  expect((await threadmark(["export", url, "--output", bundle])).code).toBe(0);
  const signal = AbortSignal.abort();
  for (const parameters of [
    ["verify"],
    ["compact"],
    ["import", bundle],
    ["prune", "--all", "--keep-last", "1", "--yes"],
    ["export"],
  ]) {
    const { code, out } = await threadmark([...parameters, url], { signal });
    expect([parameters, code, out]).toEqual([parameters, 130, ""]);
  }
  expect(records((await threadmark(["history", "user-42", url, "--json"])).out)).toHaveLength(3);
});

test("a long list of threads is shown in parts, each saying how to go on", async () => {
  const url = await storeWith(async (store) => {
    for (let n = 0; n < 130; n += 1) await store.thread(`thread ${n}`).put({ state: {}, createdAt: 1_000 + n });
  });
  const first = await threadmark(["threads", url]);
  expect(lines(first.out)).toHaveLength(101);
  const after = /--after ("[^"]*")/.exec(first.err)?.[1];
  expect(after).toBe('"thread 30"');
  const second = await threadmark(["threads", "--after", JSON.parse(after!) as string, url]);
  expect(lines(second.out)).toHaveLength(31);
  expect(second.err).toBe("");
  expect(records((await threadmark(["threads", url, "--json"])).out)).toHaveLength(130);
});
