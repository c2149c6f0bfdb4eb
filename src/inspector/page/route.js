import { useEffect, useState } from "./dom.js";

/**
 * Parses the fragment of the address: /threads, /storage, /thread/<id>, /thread/<id>/<checkpoint>, and ?namespace=,
 * tab=, base=. Ids may be any text, so they are percent-encoded.
 */
export function parseRoute(hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split("?");
  const [view = "", thread, checkpoint] = path.split("/").map(decoded);
  const parameters = new URLSearchParams(query);
  const namespace = parsedList(parameters.get("namespace"));
  if (view === "thread" && thread) {
    return {
      view,
      thread,
      checkpoint: checkpoint || undefined,
      namespace,
      tab: parameters.get("tab") ?? "state",
      base: parameters.get("base") ?? undefined,
    };
  }
  return { view: view === "storage" ? "storage" : "threads", namespace: [], tab: "state" };
}

export function routeAddress({ view = "thread", thread, checkpoint, namespace = [], tab, base }) {
  if (view !== "thread") return `#/${view}`;
  const query = new URLSearchParams();
  if (namespace.length > 0) query.set("namespace", JSON.stringify(namespace));
  if (tab && tab !== "state") query.set("tab", tab);
  if (base) query.set("base", base);
  const place = checkpoint ? `/${encodeURIComponent(checkpoint)}` : "";
  const text = query.toString();
  return `#/thread/${encodeURIComponent(thread)}${place}${text === "" ? "" : `?${text}`}`;
}

export function go(route) {
  location.hash = routeAddress(route);
}

/** Changes the route without a new entry in the browser's history. */
export function replaceRoute(route) {
  history.replaceState(null, "", routeAddress(route));
  dispatchEvent(new HashChangeEvent("hashchange"));
}

export function useRoute() {
  const [route, setRoute] = useState(() => parseRoute(location.hash));
  useEffect(() => {
    const follow = () => setRoute(parseRoute(location.hash));
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  return route;
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return "";
  }
}

function parsedList(text) {
  try {
    const list = JSON.parse(text ?? "[]");
    return Array.isArray(list) ? list.map(String) : [];
  } catch {
    return [];
  }
}
