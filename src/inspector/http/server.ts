import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Store } from "../../api/store.ts";
import { withoutPassword } from "../../display/redact-url.ts";
import { type Renderer, Renderers } from "../../display/values/renderers.ts";
import type { ApiContext, State } from "../api/api-context.ts";
import { routes } from "../api/routes.ts";
import { Runs } from "../app/runs.ts";
import { Catalogue } from "../caches/catalogue.ts";
import { ChangeSignal } from "../caches/changes.ts";
import { Heads } from "../caches/heads.ts";
import { RecentCheckpoints } from "../caches/recent-checkpoints.ts";
import { StepSummaries } from "../caches/step-summaries.ts";
import { StorageSurvey } from "../caches/storage-survey.ts";
import { Timelines } from "../caches/timelines.ts";
import { loadAssets } from "./assets.ts";
import { checkOrigin, checkToken } from "./auth.ts";
import { downloads } from "./downloads.ts";
import { HttpError, httpErrorOf } from "./http-error.ts";
import { type LiveAnswer, streamAnswers } from "./live.ts";
import { readFields } from "./request-body.ts";
import { isText, RequestParameters } from "./request-parameters.ts";

export interface InspectorOptions {
  readonly store: Store<State>;
  /** The store's address as the page shows it; passwords are removed. */
  readonly url: string;
  /** Removes fork, answer, label, prune, delete and export. */
  readonly readOnly?: boolean;
  /** The module that exports the workflows to run threads on with. Without it, nothing can be run from the page. */
  readonly app?: string;
  /** How values of certain shapes read, before the built-in renderers. */
  readonly renderers?: readonly Renderer[];
  /** Default: any free port. */
  readonly port?: number;
  /** Receives unexpected errors. */
  readonly complain?: (error: unknown) => void;
}

export interface Inspector {
  /** The address of the page, with the token in the fragment, which browsers send to no server, nor in a Referer. */
  readonly address: string;
  readonly port: number;
  readonly token: string;
  /** Stops answering. The store stays open. */
  close(): Promise<void>;
}

const headers = {
  "Content-Security-Policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
} as const;

/**
 * The most bytes of a request's headers. Every other service of this machine can set cookies for 127.0.0.1, up to about
 * 180 of 4 KB in a browser, which sends them all along; the page must open all the same.
 */
const MOST_HEADER_BYTES = 1024 * 1024;

/** How many answers a page may keep up to date. */
const MOST_QUESTIONS = 32;

/**
 * Serves a store's inspector to this machine.
 *
 * @example
 * const inspector = await serveInspector({ store, url: "sqlite:agent.db" });
 * console.log(inspector.address);
 */
export async function serveInspector({
  store,
  url,
  readOnly = false,
  port = 0,
  renderers: given = [],
  app,
  complain,
}: InspectorOptions): Promise<Inspector> {
  const runs = app === undefined ? undefined : new Runs(app);
  const assets = await loadAssets();
  const renderers = new Renderers(given);
  const catalogue = new Catalogue(store as Store);
  const survey = new StorageSurvey(store, catalogue);
  const changes = new ChangeSignal(store as Store);
  const caches = {
    timelines: new Timelines(store as Store),
    summaries: new StepSummaries(store as Store, renderers),
    heads: new Heads(store as Store, renderers),
  };
  const context: ApiContext = {
    store,
    url: withoutPassword(url),
    readOnly,
    renderers,
    catalogue,
    survey,
    states: new RecentCheckpoints(),
    ...caches,
    runs,
    changed: () => {
      catalogue.changed();
      for (const cache of Object.values(caches)) cache.forget();
    },
  };
  const token = randomBytes(24).toString("base64url");
  let listeningOn = port;

  const server = createServer({ maxHeaderSize: MOST_HEADER_BYTES }, (request, response) => {
    void answer(request, response).catch((error: unknown) => refuse(response, error));
  });
  // A local page needs few connections, and no slow ones.
  server.headersTimeout = 10_000;
  server.requestTimeout = 60_000;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  listeningOn = (server.address() as AddressInfo).port;

  return {
    address: `http://127.0.0.1:${listeningOn}/#token=${token}`,
    port: listeningOn,
    token,
    async close() {
      runs?.close();
      changes.close();
      await survey.stop();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    const method = request.method ?? "GET";
    const { path, query } = target(request.url ?? "/");
    checkOrigin(listeningOn, { method, headers: request.headers });
    // The page, its script and its style contain nothing of the store: only the API needs the token.
    if (!path.startsWith("/api/")) return serveAsset(method, path, request, response);
    checkToken(token, request.headers);
    const download = downloads.get(path);
    if (download !== undefined) {
      if (method !== "GET") throw notAllowed(response, "GET");
      return download(context, query, response, complain);
    }
    if (path === "/api/live") return live(method, query, response);
    return callApi(method, path, query, request, response);
  }

  async function callApi(
    method: string,
    path: string,
    query: URLSearchParams,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const route = routes.get(path);
    if (route === undefined) throw new HttpError(404, "NOT_FOUND", "The API has no such path.");
    if (method !== route.method) throw notAllowed(response, route.method);
    if (route.changes === true && readOnly) throw notInReadOnly();
    const parameters =
      route.method === "GET" ? RequestParameters.ofQuery(query) : RequestParameters.ofBody(await readFields(request));
    send(response, 200, await route.handler(context, parameters));
  }

  /** Keeps the answers to several GET requests up to date in a single streamed response. */
  async function live(method: string, query: URLSearchParams, response: ServerResponse): Promise<void> {
    if (method !== "GET") throw notAllowed(response, "GET");
    const parameters = RequestParameters.ofQuery(query);
    const addresses = parameters.list("questions", MOST_QUESTIONS, isText);
    parameters.end();
    const questions = addresses.map((address) => {
      const { path, query: asked } = target(address);
      return async (): Promise<LiveAnswer> => {
        try {
          const route = routes.get(path);
          if (route?.method !== "GET") throw new HttpError(404, "NOT_FOUND", `The API has no ${path} to GET.`);
          return { answer: await route.handler(context, RequestParameters.ofQuery(asked)) };
        } catch (error) {
          const { status, code, message } = httpErrorOf(error);
          if (status === 500 && code === "FAILED") complain?.(error);
          return { error: { code, message } };
        }
      };
    });
    await streamAnswers(questions, response, changes);
  }

  function serveAsset(method: string, path: string, request: IncomingMessage, response: ServerResponse): void {
    const asset = assets.get(path);
    if (asset === undefined) throw new HttpError(404, "NOT_FOUND", "There is no such page.");
    if (method !== "GET" && method !== "HEAD") throw notAllowed(response, "GET, HEAD");
    response.setHeader("Cache-Control", asset.lasting ? "max-age=31536000, immutable" : "no-cache");
    response.setHeader("ETag", asset.tag);
    if (request.headers["if-none-match"] === asset.tag) {
      response.statusCode = 304;
      response.end();
      return;
    }
    response.setHeader("Content-Type", asset.type);
    response.end(method === "HEAD" ? undefined : asset.body);
  }

  function refuse(response: ServerResponse, error: unknown): void {
    const { status, code, message } = httpErrorOf(error);
    if (status === 500 && code === "FAILED") complain?.(error);
    if (response.headersSent) {
      response.destroy();
      return;
    }
    // The rest of the request is not read.
    response.setHeader("Connection", "close");
    send(response, status, { error: { code, message } });
  }
}

function target(url: string): { readonly path: string; readonly query: URLSearchParams } {
  const mark = url.indexOf("?");
  const path = mark < 0 ? url : url.slice(0, mark);
  return { path, query: new URLSearchParams(mark < 0 ? "" : url.slice(mark + 1)) };
}

function notAllowed(response: ServerResponse, allowed: string): HttpError {
  response.setHeader("Allow", allowed);
  return new HttpError(405, "INVALID", `Only ${allowed} is answered here.`);
}

function notInReadOnly(): HttpError {
  return new HttpError(403, "READ_ONLY", "The inspector runs with --read-only.");
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.statusCode = status;
  response.setHeader("Content-Type", "application/json; charset=utf-8");
  response.setHeader("Cache-Control", "no-store");
  response.end(JSON.stringify(body));
}
