import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Renderer } from "../../../src/display/values/renderers.ts";
import { open, type Store } from "../../../src/index.ts";
import { type Inspector, serveInspector } from "../../../src/inspector/http/server.ts";
import { makeFolder, removeFolder } from "../../support/temporary-folder.ts";

export type State = Record<string, unknown>;

export interface Served {
  readonly store: Store<State>;
  readonly inspector: Inspector;
  /** Asks the API as a program does. */
  readonly get: (path: string, parameters?: Record<string, unknown>) => Promise<Response>;
  readonly post: (path: string, body: unknown) => Promise<Response>;
  /** The store's url, for other processes. */
  readonly url: string;
}

interface ServedOptions {
  readonly readOnly?: boolean;
  readonly store?: Store<State>;
  readonly renderers?: readonly Renderer[];
  /** Returns the path of an application for the store at this url. */
  readonly app?: (url: string, directory: string) => string;
}

/** A store on SQLite with its inspector, gone when the test is. */
export async function served(options: ServedOptions = {}): Promise<Served> {
  const directory = makeFolder();
  const url = `sqlite:${join(directory, "test.db")}`;
  const store = options.store ?? (await open<State>(url, { unregistered: "keep", fsync: "normal" }));
  const inspector = await serveInspector({
    store,
    url: "sqlite:test.db",
    readOnly: options.readOnly === true,
    ...(options.renderers !== undefined && { renderers: options.renderers }),
    ...(options.app !== undefined && { app: options.app(url, directory) }),
  });
  onTestFinished(async () => {
    await inspector.close();
    await store.close();
    removeFolder(directory);
  });
  const base = `http://127.0.0.1:${inspector.port}`;
  const authorization = `Bearer ${inspector.token}`;
  return {
    store,
    inspector,
    url,
    get: (path, parameters = {}) => {
      const query = new URLSearchParams();
      for (const [name, value] of Object.entries(parameters)) {
        query.set(name, typeof value === "string" ? value : JSON.stringify(value));
      }
      return fetch(`${base}/api/${path}?${query}`, { headers: { authorization } });
    },
    post: (path, body) =>
      fetch(`${base}/api/${path}`, {
        method: "POST",
        headers: { authorization, "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
  };
}

/** Returns the path of the page's script, which is named by its content. */
export async function scriptOf({ port }: Inspector): Promise<string> {
  const page = await (await fetch(`http://127.0.0.1:${port}/`)).text();
  const [, path] = /src="(\/main-\w{12}\.js)"/.exec(page) ?? [];
  if (path === undefined) throw new Error("The page names no script.");
  return path;
}

const MINUTE = 60_000;

/** A few threads of every sort: branched, forked, nested, waiting, failed, with values of many types. */
export async function seed(store: Store<State>, now: number = Date.now()): Promise<void> {
  const order = store.thread("order-17");
  const at = (minutes: number): { createdAt: number } => ({ createdAt: now - (60 - minutes) * MINUTE });
  const state = {
    customer: { name: "Ada", since: new Date(0) },
    messages: [{ role: "user", text: "Where is my order?" }],
    total: 129_900n,
    tools: new Set(["search", "refund"]),
    parcels: new Map<string, unknown>([["DHL-1", { weight: 1.5, dimensions: new Float32Array([1, 2, 3]) }]]),
    page: new URL("https://example.org/order/17"),
    pattern: /^DHL-\d+$/u,
    nothing: undefined,
  };
  const first = await order.put({ state, source: "input", next: ["plan"], workflow: "support", run: "r1", ...at(0) });
  const planned = await order.put({
    update: { set: { plan: ["look up", "answer"] } },
    node: "plan",
    next: ["look-up"],
    ...at(1),
  });
  await order.label(planned.id, "the plan");
  const nested = store.thread("order-17", { namespace: ["look-up", "2.0"] });
  await nested.put({ state: { query: "DHL-1" }, source: "input", next: ["ask"], workflow: "look-up", ...at(2) });
  await nested.put({ update: { set: { found: true } }, node: "ask", ...at(3) });
  await order.put({
    update: { append: { messages: [{ role: "tool", text: "It left on Monday." }] } },
    node: "look-up",
    next: ["answer"],
    ...at(4),
  });
  await order.put(
    { update: { set: { plan: ["ask first"] } }, source: "update", next: ["ask"], ...at(5) },
    { parent: planned.id },
  );
  await order.put({
    update: { append: { messages: [{ role: "assistant", text: "Which parcel?" }] } },
    node: "ask",
    ...at(6),
  });
  await order.fork({ at: first.id, into: "order-17-again", edits: { total: 0n } });

  const refund = store.thread("refund-4");
  await refund.put({ state: { amount: 12 }, source: "input", next: ["review"], workflow: "support", ...at(10) });
  await refund.put({
    state: { amount: 12 },
    node: "look-up",
    next: [{ node: "review", task: "1.0" }],
    interrupts: [{ id: "1.0#0", node: "review", value: { question: "Refund 12 euros?", amount: 12 } }],
    ...at(11),
  });

  const failed = store.thread("import-9");
  const head = await failed.put({
    state: { rows: 3 },
    source: "input",
    next: ["load", "check"],
    workflow: "import",
    ...at(20),
  });
  await failed.putWrites(head.id, { task: "0.1", node: "check", writes: [{ channel: "rows", value: [1, 2, 3] }] });
  await failed.putWrites(head.id, {
    task: "0.0",
    node: "load",
    writes: [
      { channel: "error", index: -1, value: { code: "NODE_FAILED", name: "Error", message: "The file is gone" } },
    ],
  });
}
