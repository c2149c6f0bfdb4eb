import { join } from "node:path";
import { describe } from "vitest";
import { sqlite } from "../../../src/backends/sqlite/index.ts";
import { folderOfFile } from "../../support/folders-of-tests.ts";
import { testContract } from "../support/contract.ts";

const directory = folderOfFile();

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
