import { join } from "node:path";
import { describe } from "vitest";
import { file } from "../../../src/backends/file/index.ts";
import { folderOfFile } from "../../support/folders-of-tests.ts";
import { testContract } from "../support/contract.ts";

const root = folderOfFile();

for (const fsync of ["full", "normal"] as const) {
  describe(`file with fsync ${fsync} keeps the contract`, () => {
    let count = 0;
    testContract({ durable: true, processes: false }, () => {
      const directory = join(root, `${fsync}-${count++}`, "nested");
      return () => file(directory, { fsync });
    });
  });
}
