import { join } from "node:path";
import { directoryLineage } from "./operation.ts";

const journalName = /^([0-9a-f]{8})\.jsonl$/;
const directoryName = "directory.jsonl";
const unfinished = ".new";

/**
 * Every name is made of a lineage's number: no thread's id ever becomes part of a path, and no file system's idea of case
 * or of reserved names matters.
 */
export function journalPath(directory: string, lineage: number): string {
  const name = lineage === directoryLineage ? directoryName : `${lineage.toString(16).padStart(8, "0")}.jsonl`;
  return join(directory, name);
}

/** The lineage whose journal has this name; undefined for other files. */
export function lineageOfName(name: string): number | undefined {
  if (name === directoryName) return directoryLineage;
  const digits = journalName.exec(name)?.[1];
  return digits === undefined ? undefined : Number.parseInt(digits, 16);
}

/** Where a journal is written anew before it takes the old one's place. */
export function unfinishedPath(path: string): string {
  return path + unfinished;
}

/** Whether a file is a journal that was never finished: a crash came between. */
export function isUnfinishedJournal(name: string): boolean {
  return name.endsWith(unfinished) && lineageOfName(name.slice(0, -unfinished.length)) !== undefined;
}
