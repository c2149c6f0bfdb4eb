import { setImmediate as turn } from "node:timers/promises";
import { toTagged } from "../../../display/tagged-json.ts";
import {
  bytesOf,
  follow,
  type Part,
  partsOf,
  partsOfState,
  type StateStep,
  summaryOf,
} from "../../../display/values/parts.ts";
import type { Renderers } from "../../../display/values/renderers.ts";
import { HttpError } from "../../http/http-error.ts";
import { isStep, type RequestParameters } from "../../http/request-parameters.ts";
import type { PreviewNode, StateMatches, StateNode } from "../answers.ts";
import { type ApiContext, type Handler, threadOf } from "../api-context.ts";

const DEEPEST = 1_100;
const PAGE = 100;
const LARGEST_PAGE = 1_000;
/** Small parts are sent along with their parent, up to this many. */
const COMES_ALONG = 300;

/** How much is sent of a value that cannot be opened further, as in a list of changes. */
const PREVIEW = { parts: 20, altogether: 60 } as const;

/** Returns a value with its first parts, and those of small parts. */
export function previewNode(value: unknown, shown: number, renderers: Renderers): PreviewNode {
  const summary = summaryOf(value, shown, renderers);
  if (summary.parts === 0) return summary;
  const parts = partsOf(value, 0, PREVIEW.parts, renderers);
  return { ...summary, children: nodesOf(parts, { left: PREVIEW.altogether }, 1, renderers) };
}

/** Returns the value at a path of a state, with its parts. The keys that LangGraph keeps are the last, and counted. */
export const stateNode: Handler<StateNode> = async (context, parameters) => {
  const offset = parameters.whole("offset", 0, Number.MAX_SAFE_INTEGER, 0);
  const limit = parameters.whole("limit", 1, LARGEST_PAGE, PAGE);
  const { value, isState } = await valueAt(context, parameters);
  const { renderers } = context;
  const { parts, internal } = isState ? partsOfState(value) : { parts: undefined, internal: 0 };
  const shown = parts?.slice(offset, offset + limit) ?? partsOf(value, offset, limit, renderers);
  const children = nodesOf(shown, { left: COMES_ALONG }, 1, renderers);
  return { ...summaryOf(value, undefined, renderers), offset, internal, children };
};

function nodesOf(parts: readonly Part[], budget: { left: number }, level: number, renderers: Renderers): PreviewNode[] {
  budget.left -= parts.length;
  return parts.map(({ step, label, value }) => {
    const summary = summaryOf(value, undefined, renderers);
    const open = level < 3 && summary.parts > 0 && summary.parts <= Math.min(20, budget.left);
    if (!open) return { step, label, ...summary };
    return {
      step,
      label,
      ...summary,
      children: nodesOf(partsOf(value, 0, summary.parts, renderers), budget, level + 1, renderers),
    };
  });
}

/** Returns a stretch of a long text, or of bytes as hexadecimal digits. */
export const stateText: Handler = async (context, parameters) => {
  const offset = parameters.whole("offset", 0, Number.MAX_SAFE_INTEGER, 0);
  const limit = parameters.whole("limit", 1, 1_000_000, 20_000);
  const { value } = await valueAt(context, parameters);
  if (typeof value === "string")
    return { text: value.slice(offset, offset + limit).toWellFormed(), length: value.length };
  const bytes = bytesOf(value);
  if (bytes === undefined) throw new HttpError(400, "INVALID", "This is neither a text nor bytes.");
  return { text: Buffer.from(bytes.subarray(offset, offset + limit)).toString("hex"), length: bytes.length };
};

/** Returns a part of the state as tagged JSON, whole, to be copied. */
export const stateValue: Handler = async (context, parameters) => ({
  value: toTagged((await valueAt(context, parameters)).value),
});

const MOST_MATCHES = 200;
const TURN = 5_000;

/** Finds the paths of a state whose key or value contains a text. */
export const stateSearch: Handler<StateMatches> = async (context, parameters) => {
  const wanted = parameters.text("query").toLowerCase();
  if (wanted === "") throw new HttpError(400, "INVALID", "query must not be empty.");
  const { value } = await valueAt(context, parameters);
  const { renderers } = context;
  const matches: StateMatches["matches"][number][] = [];
  let seen = 0;
  const pending: { value: unknown; path: readonly StateStep[]; labels: readonly string[] }[] = [
    { value, path: [], labels: [] },
  ];
  while (pending.length > 0 && matches.length <= MOST_MATCHES) {
    const here = pending.pop()!;
    seen += 1;
    // Lets other requests have a turn.
    if (seen % TURN === 0) await turn();
    const label = here.labels.at(-1) ?? "";
    if (label.toLowerCase().includes(wanted) || leafText(here.value).toLowerCase().includes(wanted)) {
      matches.push({ path: here.path, labels: here.labels, summary: summaryOf(here.value, undefined, renderers) });
    }
    const inside = partsOf(here.value, 0, Number.POSITIVE_INFINITY, renderers);
    for (const part of inside.toReversed()) {
      pending.push({ value: part.value, path: [...here.path, part.step], labels: [...here.labels, part.label] });
    }
  }
  return { matches: matches.slice(0, MOST_MATCHES), more: matches.length > MOST_MATCHES };
};

function leafText(value: unknown): string {
  if (typeof value === "string") return value;
  const { parts, text } = summaryOf(value);
  return parts === 0 ? text : "";
}

/** Returns the value that a request names, and whether it is a whole state. */
export async function valueAt(
  context: ApiContext,
  parameters: RequestParameters,
): Promise<{ readonly value: unknown; readonly isState: boolean }> {
  const thread = threadOf(context, parameters);
  const id = parameters.text("checkpoint");
  const path = parameters.list("path", DEEPEST, isStep);
  const of = parameters.choice("of", ["state", "metadata", "interrupts", "next", "writes"]) ?? "state";
  parameters.end();
  const whole = of === "writes" ? await thread.writes(id) : (await context.states.get(thread, id))[of];
  const { found, value } = follow(whole, path, context.renderers);
  if (!found) throw new HttpError(404, "NOT_FOUND", "The path leads nowhere.");
  return { value, isState: of === "state" && path.length === 0 };
}
