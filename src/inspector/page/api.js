/** An answer that says why there is none. */
export class ApiError extends Error {
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** Lists go as JSON, and what is undefined does not go at all. */
function queryText(parameters) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value === undefined || value === null) continue;
    query.set(name, Array.isArray(value) ? JSON.stringify(value) : String(value));
  }
  return query.toString();
}

async function answerOf(response) {
  const body = await response.json().catch(() => undefined);
  if (response.ok) return body;
  const { code = "FAILED", message = `The inspector answered with ${response.status}.` } = body?.error ?? {};
  throw new ApiError(response.status, code, message);
}

export async function get(path, parameters = {}, signal = undefined) {
  return answerOf(await fetch(`/api/${path}?${queryText(parameters)}`, { signal }));
}

export async function post(path, body) {
  const headers = { "Content-Type": "application/json" };
  return answerOf(await fetch(`/api/${path}`, { method: "POST", headers, body: JSON.stringify(body) }));
}

/** Where a bundle of a thread, or of all, can be had. */
export function exportAddress(thread) {
  return `/api/export?${queryText({ thread })}`;
}
