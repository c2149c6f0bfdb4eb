import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { Refusal } from "./refusal.ts";

/** Who may come in: those who know the token, from this very page or from no page at all. */
export interface Gate {
  readonly port: number;
  readonly token: string;
}

export interface Visitor {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  /** The token given in the address, if any. */
  readonly offered: string | null;
}

/** Cookies are shared by all ports of a host: each inspector has its own. */
export function cookieName(port: number): string {
  return `threadmark-${port}`;
}

/**
 * Throws unless the request may be answered. A page of another site can make a browser send requests here, and a name of
 * another site can be made to mean this machine (DNS rebinding): the Host and Origin headers give both away.
 */
export function admit(gate: Gate, { method, headers, offered }: Visitor): void {
  const host = headers.host ?? "";
  const own = ["127.0.0.1", "localhost", "[::1]"].map((name) => `${name}:${gate.port}`);
  if (!own.includes(host)) throw new Refusal(403, "FORBIDDEN", "This address is not the inspector's own.");
  if (headers.origin !== undefined && headers.origin !== `http://${host}`) {
    throw new Refusal(403, "FORBIDDEN", "Pages of other sites are not answered.");
  }
  const site = headers["sec-fetch-site"];
  const isNavigation = method === "GET" && headers["sec-fetch-mode"] === "navigate";
  if (site !== undefined && site !== "same-origin" && site !== "none" && !isNavigation) {
    throw new Refusal(403, "FORBIDDEN", "Pages of other sites are not answered.");
  }
  const bearer = bearerToken(headers);
  if (![bearer, cookieToken(gate.port, headers), offered].some((token) => isSame(token, gate.token))) {
    throw new Refusal(401, "UNAUTHORIZED", "Open the address that threadmark ui printed: it has the token.");
  }
  const isWrite = method !== "GET" && method !== "HEAD";
  // A cookie comes along by itself. That the page itself asked, only the browser can say: then it names the origin.
  if (isWrite && bearer === undefined && headers.origin === undefined) {
    throw new Refusal(403, "FORBIDDEN", "A change needs an Origin header, or the token as Authorization: Bearer.");
  }
}

function bearerToken({ authorization }: IncomingHttpHeaders): string | undefined {
  return /^Bearer ([\w-]+)$/.exec(authorization ?? "")?.[1];
}

function cookieToken(port: number, { cookie }: IncomingHttpHeaders): string | undefined {
  const name = `${cookieName(port)}=`;
  const found = cookie?.split("; ").find((pair) => pair.startsWith(name));
  return found?.slice(name.length);
}

/** In a time that does not tell how much of it was right. */
function isSame(given: string | null | undefined, token: string): boolean {
  if (given === undefined || given === null) return false;
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(token));
}
