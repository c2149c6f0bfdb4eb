import { setImmediate as turn } from "node:timers/promises";
import { toTagged } from "../../display/tagged-json.ts";
import { HttpError } from "../http/http-error.ts";
import { isStep, type RequestParameters } from "../http/request-parameters.ts";
import { type ApiContext, type Handler, threadOf } from "./api-context.ts";
import { bytesOf, follow, partsOf, type StateStep, type Summary, summaryOf } from "./value.ts";

const DEEPEST = 1_100;
const PAGE = 100;
const LARGEST_PAGE = 1_000;
/** Small parts are sent along with their parent, up to this many. */
const COMES_ALONG = 300;

interface Node extends Summary {
  readonly step: StateStep;
  readonly label: string;
  readonly children?: readonly Node[];
}

/** How much is sent of a value that cannot be opened further, as in a list of changes. */
const PREVIEW = { parts: 20, altogether: 60 } as const;

/** Returns a value with its first parts, and those of small parts. */
export function previewOf(value: unknown, shown: number): Summary & { readonly children?: readonly Node[] } {
  const summary = summaryOf(value, shown);
  if (summary.parts === 0) return summary;
  return { ...summary, children: children(value, 0, PREVIEW.parts, { left: PREVIEW.altogether }, 1) };
}

/** Returns the value at a path of a state, with its parts. */
export const stateNode: Handler = async (context, parameters) => {
  const offset = parameters.whole("offset", 0, Number.MAX_SAFE_INTEGER, 0);
  const limit = parameters.whole("limit", 1, LARGEST_PAGE, PAGE);
  const value = await valueAt(context, parameters);
  const budget = { left: COMES_ALONG };
  return { ...summaryOf(value), offset, children: children(value, offset, limit, budget, 1) };
};

function children(value: unknown, offset: number, limit: number, budget: { left: number }, level: number): Node[] {
  const found = partsOf(value, offset, limit);
  budget.left -= found.length;
  return found.map(({ step, label, value: part }) => {
    const summary = summaryOf(part);
    const open = level < 3 && summary.parts > 0 && summary.parts <= Math.min(20, budget.left);
    return { step, label, ...summary, ...(open && { children: children(part, 0, summary.parts, budget, level + 1) }) };
  });
}

/** Returns a stretch of a long text, or of bytes as hexadecimal digits. */
export const stateText: Handler = async (context, parameters) => {
  const offset = parameters.whole("offset", 0, Number.MAX_SAFE_INTEGER, 0);
  const limit = parameters.whole("limit", 1, 1_000_000, 20_000);
  const value = await valueAt(context, parameters);
  if (typeof value === "string")
    return { text: value.slice(offset, offset + limit).toWellFormed(), length: value.length };
  const bytes = bytesOf(value);
  if (bytes === undefined) throw new HttpError(400, "INVALID", "This is neither a text nor bytes.");
  return { text: Buffer.from(bytes.subarray(offset, offset + limit)).toString("hex"), length: bytes.length };
};

/** Returns a part of the state as tagged JSON, whole, to be copied. */
export const stateValue: Handler = async (context, parameters) => ({
  value: toTagged(await valueAt(context, parameters)),
});

const MOST_MATCHES = 200;
const TURN = 5_000;

/** Finds the paths of a state whose key or value contains a text. */
export const stateSearch: Handler = async (context, parameters) => {
  const wanted = parameters.text("query").toLowerCase();
  if (wanted === "") throw new HttpError(400, "INVALID", "query must not be empty.");
  const value = await valueAt(context, parameters);
  const matches: { path: readonly StateStep[]; labels: readonly string[]; summary: Summary }[] = [];
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
      matches.push({ path: here.path, labels: here.labels, summary: summaryOf(here.value) });
    }
    const inside = partsOf(here.value, 0, Number.POSITIVE_INFINITY);
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

async function valueAt(context: ApiContext, parameters: RequestParameters): Promise<unknown> {
  const thread = threadOf(context, parameters);
  const id = parameters.text("checkpoint");
  const path = parameters.list("path", DEEPEST, isStep);
  const of = parameters.choice("of", ["state", "metadata", "interrupts", "next", "writes"]) ?? "state";
  parameters.end();
  const whole = of === "writes" ? await thread.writes(id) : (await context.states.get(thread, id))[of];
  const { found, value } = follow(whole, path);
  if (!found) throw new HttpError(404, "NOT_FOUND", "The path leads nowhere.");
  return value;
}
