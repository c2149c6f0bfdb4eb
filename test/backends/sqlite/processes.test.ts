import { describe, expect, test } from "vitest";
import { sqlite } from "../../../src/backends/sqlite/index.ts";
import { Child } from "../../support/child-process.ts";
import { folderForEach } from "../../support/folders-of-tests.ts";

const path = folderForEach();
const writer = new URL("./support/writer.ts", import.meta.url);

/** Starts writers of one file that does not exist yet, all at the same moment; gives what each applied. */
async function race(writers: number, commits: number, file: string): Promise<readonly number[]> {
  const children = Array.from({ length: writers }, (_, index) => new Child(writer, file, `${index + 1}`, `${commits}`));
  await Promise.all(children.map((child) => child.line()));
  for (const child of children) child.go();
  const applied = await Promise.all(children.map(async (child) => Number(await child.line())));
  expect(await Promise.all(children.map((child) => child.end()))).toEqual(children.map(() => 0));
  return applied;
}

async function expectAll(file: string, writers: number, commits: number): Promise<void> {
  const backend = await sqlite(file);
  for (let group = 1; group <= writers; group++) {
    const [found] = await backend.read([{ scan: { table: "tail", lineage: group, group } }]);
    expect((found as readonly unknown[]).length).toBe(commits);
  }
  expect(await backend.verify()).toEqual([]);
  await backend.close();
}

describe("several processes on one file", () => {
  test("two processes that create one file at the same moment both succeed", async () => {
    for (let round = 0; round < 5; round++) {
      const file = path("nested", `${round}.db`);
      expect(await race(2, 5, file)).toEqual([5, 5]);
      await expectAll(file, 2, 5);
    }
  });

  test("eight processes that commit to one file at once lose nothing, and none fails", async () => {
    const file = path("agent.db");
    expect(await race(8, 150, file)).toEqual(Array.from({ length: 8 }, () => 150));
    await expectAll(file, 8, 150);
  });
});
