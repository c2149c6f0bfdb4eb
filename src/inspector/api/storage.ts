import type { PruneOptions } from "../../model/arguments.ts";
import type { Parts } from "../http/request-parts.ts";
import type { Handler } from "./api-context.ts";

const LARGEST_PAGE = 500;

export const storageFacts: Handler = async ({ survey }, parts) => {
  const offset = parts.whole("offset", 0, Number.MAX_SAFE_INTEGER, 0);
  const limit = parts.whole("limit", 1, LARGEST_PAGE, 100);
  parts.end();
  const { sizes, ...facts } = survey.survey;
  return { ...facts, total: sizes.length, offset, sizes: sizes.slice(offset, offset + limit) };
};

export const startSurvey: Handler = async ({ survey }, parts) => {
  parts.end();
  survey.start();
  return { started: true };
};

/** Reads the rules of a prune, which are those of the command line. */
export function retentionOf(parts: Parts): PruneOptions {
  const keepLast = parts.whole("keepLast", 1, Number.MAX_SAFE_INTEGER, 1);
  const olderThan = parts.whole("olderThan", 0, Number.MAX_SAFE_INTEGER, 0);
  const keepLabelled = parts.flag("keepLabelled");
  const ancestors = parts.flag("protectAncestors") ? "protect" : "truncate";
  return { keepLast, keepLabelled, ancestors, ...(olderThan > 0 && { olderThan }) };
}
