import { join } from "node:path";
import { directoryLineage } from "./operation.ts";

const journalName = /^([0-9a-f]{8})\.jsonl$/;
const directoryName = "directory.jsonl";
const unfinished = ".new";

/**
 * Returns a journal's path, made of the lineage's number only: no thread id becomes part of a path, so that neither
 * case nor names that a file system reserves matter.
 */
export function journalPath(directory: string, lineage: number): string {
  const name = lineage === directoryLineage ? directoryName : `${lineage.toString(16).padStart(8, "0")}.jsonl`;
  return join(directory, name);
}

/** Returns the lineage whose journal has this name; undefined for other files. */
export function lineageOfName(name: string): number | undefined {
  if (name === directoryName) return directoryLineage;
  const digits = journalName.exec(name)?.[1];
  return digits === undefined ? undefined : Number.parseInt(digits, 16);
}

/** Returns the path at which a journal's replacement is written before it is renamed. */
export function unfinishedPath(path: string): string {
  return path + unfinished;
}

/** Returns whether a file is a journal's replacement that a crash left unfinished. */
export function isUnfinishedJournal(name: string): boolean {
  return name.endsWith(unfinished) && lineageOfName(name.slice(0, -unfinished.length)) !== undefined;
}
