import { join } from "node:path";
import { afterAll, afterEach, beforeEach, onTestFinished } from "vitest";
import { makeFolder, removeFolder } from "./temporary-folder.ts";

/** Makes an empty folder, removed when the running test ends. */
export function folderOfTest(): string {
  const folder = makeFolder();
  onTestFinished(() => removeFolder(folder));
  return folder;
}

/** Makes an empty folder, removed after the last test of the file or describe that calls this. */
export function folderOfFile(): string {
  const folder = makeFolder();
  afterAll(() => removeFolder(folder));
  return folder;
}

/** Gives each test an empty folder; the result joins names to its path. */
export function folderForEach(): (...names: string[]) => string {
  let folder = "";
  beforeEach(() => {
    folder = makeFolder();
  });
  afterEach(() => removeFolder(folder));
  return (...names) => join(folder, ...names);
}
