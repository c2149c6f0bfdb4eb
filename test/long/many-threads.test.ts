import { join } from "node:path";
import { expect, test } from "vitest";
import { sqlite } from "../../src/backends/sqlite/index.ts";
import { MOST_READ, pagesOf } from "../store/finding/pages.ts";
import { makeFolder, removeFolder } from "../support/temporary-folder.ts";
import { howMany } from "./campaign.ts";

const count = howMany(1_000_000);

test(`a page of 10 among ${count} threads is right, and reads what it shows, and little more`, async () => {
  const folder = makeFolder();
  try {
    const backend = await sqlite(join(folder, "many.db"), { fsync: "normal" });
    const pages = await pagesOf(backend, count);
    await backend.close();
    for (const taken of pages) {
      expect(taken.records).toBeLessThan(MOST_READ.records);
      expect(taken.reads).toBeLessThan(MOST_READ.reads);
    }
  } finally {
    removeFolder(folder);
  }
}, 3_600_000);
