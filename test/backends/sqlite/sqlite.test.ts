import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe } from "vitest";
import { sqlite } from "../../../src/backends/sqlite/index.ts";
import { testContract } from "../contract/cases.ts";

const directory = mkdtempSync(join(tmpdir(), "threadmark-sqlite-"));
afterAll(() => rmSync(directory, { recursive: true }));

describe("sqlite keeps the contract", () => {
  let count = 0;
  testContract({ durable: true, processes: true }, () => {
    const path = join(directory, `${count++}.db`);
    return () => sqlite(path);
  });
});

describe("sqlite in memory keeps the contract", () => {
  testContract({ durable: false, processes: false }, () => () => sqlite(":memory:"));
});
