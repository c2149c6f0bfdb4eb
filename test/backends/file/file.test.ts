import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe } from "vitest";
import { file } from "../../../src/backends/file/index.ts";
import { testContract } from "../contract/cases.ts";

const root = mkdtempSync(join(tmpdir(), "threadmark-file-"));
afterAll(() => rmSync(root, { recursive: true }));

for (const fsync of ["full", "normal"] as const) {
  describe(`file with fsync ${fsync} keeps the contract`, () => {
    let count = 0;
    testContract({ durable: true, processes: false }, () => {
      const directory = join(root, `${fsync}-${count++}`, "nested");
      return () => file(directory, { fsync });
    });
  });
}
