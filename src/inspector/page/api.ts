import { authorization } from "./token.ts";

/** An error that the API answered with. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export type Parameters = Readonly<
  Record<string, string | number | boolean | readonly (string | number)[] | undefined | null>
>;

/** Returns the address of a GET request. Lists are sent as JSON; undefined and null are left out. */
export function addressOf(path: string, parameters: Parameters = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value === undefined || value === null) continue;
    query.set(name, Array.isArray(value) ? JSON.stringify(value) : String(value));
  }
  return `/api/${path}?${query}`;
}

const GONE = "The inspector does not answer. Does threadmark ui still run?";

/** Sends a request to the API, without cookies: those of this host belong to other services. */
async function ask(address: string, { headers, ...options }: RequestInit = {}): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(address, { ...options, credentials: "omit", headers: { ...authorization(), ...headers } });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new ApiError(0, "GONE", GONE);
  }
  if (response.ok) return response;
  const body = (await response.json().catch(() => undefined)) as
    | { error?: { code: string; message: string } }
    | undefined;
  const { code = "FAILED", message = `The inspector answered with ${response.status}.` } = body?.error ?? {};
  if (response.status === 401) dispatchEvent(new Event("unauthorized"));
  throw new ApiError(response.status, code, message);
}

export async function get<Answer>(path: string, parameters: Parameters = {}, signal?: AbortSignal): Promise<Answer> {
  return (await ask(addressOf(path, parameters), { ...(signal && { signal }) })).json() as Promise<Answer>;
}

export async function post<Answer>(path: string, body: unknown): Promise<Answer> {
  const headers = { "Content-Type": "application/json" };
  return (await ask(`/api/${path}`, { method: "POST", headers, body: JSON.stringify(body) })).json() as Promise<Answer>;
}

/** Returns an answer that is a file: a bundle, an attachment. A link could not carry the token. */
export async function file(path: string, parameters: Parameters): Promise<Blob> {
  return (await ask(addressOf(path, parameters))).blob();
}

/** Tells whether the inspector knows this token. */
export async function isAccepted(token: string): Promise<boolean> {
  const response = await fetch("/api/store", { credentials: "omit", headers: authorization(token) }).catch(
    () => undefined,
  );
  return response?.ok === true;
}

/** Yields the lines of an answer that is streamed as lines of JSON. */
export async function* lines<Line>(path: string, parameters: Parameters, signal: AbortSignal): AsyncGenerator<Line> {
  const response = await ask(addressOf(path, parameters), { signal });
  let rest = "";
  const decoder = new TextDecoder();
  const reader = response.body!.getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const found = (rest + decoder.decode(part.value, { stream: true })).split("\n");
    rest = found.pop() ?? "";
    for (const line of found) yield JSON.parse(line) as Line;
  }
}
