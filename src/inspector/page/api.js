import { authorization } from "./token.js";

/** An error that the API answered with. */
export class ApiError extends Error {
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** Returns the address of a GET request. Lists are sent as JSON; undefined and null are left out. */
export function addressOf(path, parameters = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value === undefined || value === null) continue;
    query.set(name, Array.isArray(value) ? JSON.stringify(value) : String(value));
  }
  return `/api/${path}?${query}`;
}

/** Sends a request to the API, without cookies: those of this host belong to other services. */
async function ask(address, { headers, ...options } = {}) {
  const response = await fetch(address, {
    ...options,
    credentials: "omit",
    headers: { ...authorization(), ...headers },
  });
  if (response.ok) return response;
  const body = await response.json().catch(() => undefined);
  const { code = "FAILED", message = `The inspector answered with ${response.status}.` } = body?.error ?? {};
  if (response.status === 401) dispatchEvent(new Event("unauthorized"));
  throw new ApiError(response.status, code, message);
}

export async function get(path, parameters = {}, signal = undefined) {
  return (await ask(addressOf(path, parameters), { signal })).json();
}

export async function post(path, body) {
  const headers = { "Content-Type": "application/json" };
  return (await ask(`/api/${path}`, { method: "POST", headers, body: JSON.stringify(body) })).json();
}

/** Returns the bundle of a thread, or of all, as a file. A link could not carry the token. */
export async function bundle(thread) {
  return (await ask(addressOf("export", { thread }))).blob();
}

/** Tells whether the inspector knows this token. */
export async function isAccepted(token) {
  const response = await fetch("/api/store", { credentials: "omit", headers: authorization(token) }).catch(
    () => undefined,
  );
  return response?.ok === true;
}

/**
 * Yields the answers to several GET requests, and each again when it changes, until the signal is aborted or the stream
 * ends.
 */
export async function* stream(addresses, signal) {
  const response = await ask(addressOf("live", { questions: addresses }), { signal });
  let rest = "";
  const decoder = new TextDecoder();
  const reader = response.body.getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const lines = (rest + decoder.decode(part.value, { stream: true })).split("\n");
    rest = lines.pop();
    for (const line of lines) yield JSON.parse(line);
  }
}
