import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { HttpError } from "./http-error.ts";

export interface Visitor {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
}

/**
 * Throws unless the request comes from the inspector's own page or from a program. A page of another site can make a
 * browser send requests here, and another site's name can be made to resolve to this machine (DNS rebinding): the Host,
 * Origin and Sec-Fetch headers reveal both. Another port of this machine counts as another site.
 */
export function checkOrigin(port: number, { method, headers }: Visitor): void {
  const host = headers.host ?? "";
  const own = ["127.0.0.1", "localhost", "[::1]"].map((name) => `${name}:${port}`);
  if (!own.includes(host)) throw new HttpError(403, "FORBIDDEN", "This address is not the inspector's own.");
  if (headers.origin !== undefined && headers.origin !== `http://${host}`) throw fromElsewhere();
  const site = headers["sec-fetch-site"];
  if (site === undefined || site === "same-origin" || site === "none") return;
  // A link elsewhere may lead here: it opens the page in a tab of its own, which is empty without the token.
  const isLink =
    method === "GET" && headers["sec-fetch-mode"] === "navigate" && headers["sec-fetch-dest"] === "document";
  if (!isLink) throw fromElsewhere();
}

/**
 * Throws unless the request carries the token in its Authorization header.
 *
 * Invariant: the token counts in this header only. A browser adds cookies by itself, and shares them among all ports of a
 * host; addresses end up in histories and logs.
 */
export function checkToken(token: string, { authorization }: IncomingHttpHeaders): void {
  const given = /^Bearer ([\w-]+)$/.exec(authorization ?? "")?.[1];
  if (given === undefined || !isSame(given, token)) {
    throw new HttpError(401, "UNAUTHORIZED", "Open the address that threadmark ui printed: it has the token.");
  }
}

function fromElsewhere(): HttpError {
  return new HttpError(403, "FORBIDDEN", "Pages of other sites are not answered.");
}

/** Compares in constant time, so that the duration does not reveal how much of the token was right. */
function isSame(given: string, token: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(token));
}
