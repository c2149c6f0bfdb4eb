import type { PruneOptions } from "../../model/interface/options.ts";
import { invalid } from "../http/http-error.ts";
import type { RequestParameters } from "../http/request-parameters.ts";
import type { StorageFacts } from "./answers.ts";
import type { Handler } from "./api-context.ts";

const LARGEST_PAGE = 500;

export const storageFacts: Handler<StorageFacts> = async ({ survey }, parameters) => {
  const offset = parameters.whole("offset", 0, Number.MAX_SAFE_INTEGER, 0);
  const limit = parameters.whole("limit", 1, LARGEST_PAGE, 100);
  parameters.end();
  const { sizes, ...facts } = survey.survey;
  return { ...facts, total: facts.measured, offset, sizes: sizes.slice(offset, offset + limit) };
};

export const startSurvey: Handler = async ({ survey }, parameters) => {
  parameters.end();
  survey.start();
  return { started: true };
};

/** Reads the rules of a prune, which are those of the command line. */
export function pruneRulesIn(parameters: RequestParameters): PruneOptions {
  if (!parameters.has("keepLast") && !parameters.has("olderThan"))
    throw invalid("prune needs a rule: say what to keep with keepLast, olderThan or both.");
  const keepLast = parameters.whole("keepLast", 1, Number.MAX_SAFE_INTEGER, 1);
  const olderThan = parameters.whole("olderThan", 0, Number.MAX_SAFE_INTEGER, 0);
  const keepLabelled = parameters.flag("keepLabelled");
  const ancestors = parameters.flag("protectAncestors") ? "protect" : "truncate";
  return { keepLast, keepLabelled, ancestors, ...(olderThan > 0 && { olderThan }) };
}
