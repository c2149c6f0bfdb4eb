import type { ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import type { ApiContext } from "../api/api-context.ts";
import { searchStore } from "../api/search.ts";
import { attachmentOf } from "../api/thread/conversation.ts";
import { valueAt } from "../api/thread/tree.ts";
import { HttpError, invalid } from "./http-error.ts";
import { RequestParameters } from "./request-parameters.ts";

/** Answers a GET request with something other than one JSON value. */
export type Download = (
  context: ApiContext,
  query: URLSearchParams,
  response: ServerResponse,
  complain: ((error: unknown) => void) | undefined,
) => Promise<void>;

/** Sends the bundle of a thread, or of all. */
const exportThreads: Download = async ({ store, readOnly }, query, response, complain) => {
  if (readOnly) throw new HttpError(403, "READ_ONLY", "The inspector runs with --read-only.");
  const parameters = RequestParameters.ofQuery(query);
  const thread = parameters.optionalText("thread");
  parameters.end();
  const lines = store.export(thread === undefined ? {} : { threads: [thread] });
  // The first lines are made before the headers are sent, so that an unknown thread is still an error.
  const first = [(await lines.next()).value as string, (await lines.next()).value as string];
  response.setHeader("Content-Type", "application/x-ndjson; charset=utf-8");
  response.setHeader("Content-Disposition", 'attachment; filename="threadmark.bundle"');
  response.setHeader("Cache-Control", "no-store");
  await pipeline(async function* () {
    yield* first;
    yield* lines;
  }, response).catch((error: unknown) => {
    // Stopping a download is no fault. Any other error cuts the bundle short, and its missing last line shows that.
    if (!response.destroyed) complain?.(error);
    response.destroy();
  });
};

/** Sends the bytes of an attachment in a state. Only pictures, told by their first bytes, are sent as what they are. */
const attachment: Download = async (context, query, response) => {
  const { value } = await valueAt(context, RequestParameters.ofQuery(query));
  const found = attachmentOf(value);
  if (found === undefined) throw new HttpError(400, "INVALID", "These are no bytes.");
  response.setHeader("Content-Type", found.type);
  response.setHeader("Content-Disposition", "attachment");
  response.setHeader("Cache-Control", "no-store");
  response.end(found.body);
};

/** Sends the places where a text is found, a line of JSON each, until the client hangs up. */
const search: Download = async (context, query, response, complain) => {
  const parameters = RequestParameters.ofQuery(query);
  const wanted = parameters.text("query").trim();
  parameters.end();
  if (wanted === "") throw invalid("query must not be empty.");
  const hungUp = new AbortController();
  response.once("close", () => hungUp.abort());
  response.setHeader("Content-Type", "application/x-ndjson; charset=utf-8");
  response.setHeader("Cache-Control", "no-store");
  response.flushHeaders();
  await pipeline(async function* () {
    for await (const found of searchStore(context, wanted, hungUp.signal)) yield `${JSON.stringify(found)}\n`;
  }, response).catch((error: unknown) => {
    if (!hungUp.signal.aborted) complain?.(error);
    response.destroy();
  });
};

/** The paths of the API that are not answered with one JSON value, but for `/api/live`. */
export const downloads: ReadonlyMap<string, Download> = new Map([
  ["/api/export", exportThreads],
  ["/api/attachment", attachment],
  ["/api/search", search],
]);
