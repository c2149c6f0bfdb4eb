import { useEffect, useState } from "preact/hooks";

const VIEWS = ["overview", "threads", "thread", "inbox", "failures", "storage", "compare"] as const;
export type View = (typeof VIEWS)[number];

export type Shape = "steps" | "graph" | "time";

/** The place that the page shows. All of it is in the address, so that a link, a reload and the back button lead to the same. */
export interface PageRoute {
  readonly view: View;
  readonly thread: string;
  readonly checkpoint: string | undefined;
  readonly namespace: readonly string[];
  /** The part of the checkpoint; undefined: the conversation if there is one, else the state. */
  readonly tab: string | undefined;
  /** How the thread is drawn. */
  readonly shape: Shape;
  /** The checkpoint that the open one is compared with; undefined: its parent. */
  readonly base: string | undefined;
  /** The path in the state to open. */
  readonly path: readonly (string | number)[] | undefined;
  /** Only steps of this node. */
  readonly node: string | undefined;
  /** The list of threads. */
  readonly search: string;
  readonly status: string;
  readonly workflow: string;
  /** The other thread of a comparison. */
  readonly other: string;
}

const NOWHERE: PageRoute = {
  view: "overview",
  thread: "",
  checkpoint: undefined,
  namespace: [],
  tab: undefined,
  shape: "steps",
  base: undefined,
  path: undefined,
  node: undefined,
  search: "",
  status: "",
  workflow: "",
  other: "",
};

/** Parses the fragment of the address: /view, /thread/<id>, /thread/<id>/<checkpoint>, and a query. Ids are percent-encoded. */
function parseRoute(hash: string): PageRoute {
  const mark = hash.indexOf("?");
  const path = (mark < 0 ? hash : hash.slice(0, mark)).replace(/^#\/?/, "");
  const query = new URLSearchParams(mark < 0 ? "" : hash.slice(mark + 1));
  const [name = "", thread = "", checkpoint = ""] = path.split("/").map(decoded);
  const view = VIEWS.find((one) => one === name) ?? "overview";
  const text = (key: string): string => query.get(key) ?? "";
  const shape = (["graph", "time"] as const).find((one) => one === text("shape")) ?? "steps";
  const listed = { search: text("search"), status: text("status"), workflow: text("workflow") };
  if ((view === "thread" || view === "compare") && thread === "") return { ...NOWHERE, ...listed };
  return {
    ...NOWHERE,
    ...listed,
    view,
    thread: view === "thread" || view === "compare" ? thread : "",
    checkpoint: view === "thread" ? checkpoint || undefined : undefined,
    namespace: list(text("namespace")).map(String),
    tab: text("tab") || undefined,
    shape,
    base: text("base") || undefined,
    path: query.has("path") ? list(text("path")) : undefined,
    node: text("node") || undefined,
    other: text("other"),
  };
}

/** Returns the address of a place; parts that are not given are the usual ones. */
export function addressOfRoute(place: Partial<PageRoute>): string {
  const route = { ...NOWHERE, ...place };
  const { view, thread, checkpoint, namespace, path } = route;
  const query = new URLSearchParams();
  if (namespace.length > 0) query.set("namespace", JSON.stringify(namespace));
  if (path !== undefined && path.length > 0) query.set("path", JSON.stringify(path));
  if (route.shape !== "steps") query.set("shape", route.shape);
  for (const key of ["tab", "base", "node", "search", "status", "workflow", "other"] as const) {
    const value = route[key];
    if (value) query.set(key, value);
  }
  const text = query.toString();
  const place_ =
    thread === "" ? "" : `/${encodeURIComponent(thread)}${checkpoint ? `/${encodeURIComponent(checkpoint)}` : ""}`;
  return `#/${view}${place_}${text === "" ? "" : `?${text}`}`;
}

/** Returns the parts of a route that say how the list of threads is filtered, to take them along. */
export function filtersOf({ search, status, workflow }: PageRoute): Pick<PageRoute, "search" | "status" | "workflow"> {
  return { search, status, workflow };
}

/** Returns the address of a thread, with the filters of the list as they are. */
export function threadAddress(route: PageRoute, thread: string, place: Partial<PageRoute> = {}): string {
  return addressOfRoute({ ...filtersOf(route), view: "thread", thread, ...place });
}

export function go(place: Partial<PageRoute>): void {
  location.hash = addressOfRoute(place);
}

/** Changes the route without a new entry in the browser's history. */
export function replaceRoute(place: Partial<PageRoute>): void {
  history.replaceState(null, "", addressOfRoute(place));
  dispatchEvent(new HashChangeEvent("hashchange"));
}

export function useRoute(): PageRoute {
  const [route, setRoute] = useState(() => parseRoute(location.hash));
  useEffect(() => {
    const follow = (): void => setRoute(parseRoute(location.hash));
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  return route;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return "";
  }
}

function list(text: string): readonly (string | number)[] {
  try {
    const value: unknown = JSON.parse(text === "" ? "[]" : text);
    return Array.isArray(value) ? value.filter((one) => typeof one === "string" || typeof one === "number") : [];
  } catch {
    return [];
  }
}
