import { describe } from "vitest";
import { memory } from "../../../src/backends/memory/index.ts";
import { oneLineage } from "../../../src/testing/index.ts";
import { testContract } from "../support/contract.ts";

describe("memory keeps the contract", () => {
  testContract(memory().capabilities, () => async () => oneLineage(memory()));
});
