import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Makes an empty folder that the caller removes. Other users may enter it: some tests and servers run as one. */
export function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "threadmark-"));
  chmodSync(folder, 0o755);
  return folder;
}

/** Removes a folder with all that is in it. */
export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}
