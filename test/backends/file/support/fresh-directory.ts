import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach } from "vitest";

/** Gives each test a directory of its own; the result joins names to its path. */
export function freshDirectory(): (...names: string[]) => string {
  let directory = "";
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "threadmark-file-"));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));
  return (...names) => join(directory, ...names);
}
