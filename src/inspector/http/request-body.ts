import type { IncomingMessage } from "node:http";
import { HttpError, invalid } from "./http-error.ts";

/** The most bytes of a request's body. An edited state has to fit; nothing else comes near it. */
export const BODY_LIMIT: number = 8 * 1024 * 1024;

export type Fields = Readonly<Record<string, unknown>>;

/** Reads the JSON object in a request's body. */
export async function readFields(request: IncomingMessage): Promise<Fields> {
  const type = request.headers["content-type"]?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json") throw new HttpError(415, "INVALID", "The body must be application/json.");
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > BODY_LIMIT) throw new HttpError(413, "TOO_LARGE", `The body has more than ${BODY_LIMIT} bytes.`);
    chunks.push(chunk);
  }
  let parsed: unknown;
  try {
    parsed = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks)));
  } catch {
    throw invalid("The body is no JSON.");
  }
  if (parsed === null || typeof parsed !== "object" || Array.isArray(parsed))
    throw invalid("The body must be an object.");
  return parsed as Fields;
}
