import { type IncomingHttpHeaders, request } from "node:http";
import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import { expect, test } from "vitest";
import { BODY_LIMIT } from "../../src/inspector/http/request-body.ts";
import { scriptOf, seed, served } from "./support/seed.ts";

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

interface Asked {
  readonly path: string;
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

/** A request exactly as it is written: fetch would mend paths and refuse some headers. */
function ask(port: number, { path, method = "GET", headers = {}, body }: Asked): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: "127.0.0.1", port, path, method, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(chunks).toString(),
        }),
      );
    });
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

test("the API answers nothing without the token in its header, and not with another one", async () => {
  const { inspector } = await served();
  const { port, token } = inspector;
  const paths = ["/api/threads", "/api/export", "/api/live?questions=[]", "/api/nowhere", "/api/", "/api/delete"];
  const withoutToken: Record<string, string>[] = [
    {},
    { authorization: "Bearer nonsense" },
    { authorization: "Bearer" },
    { authorization: `Basic ${token}` },
    { authorization: token },
    { authorization: `Bearer ${token}x` },
    { authorization: `Bearer ${token.slice(1)}` },
    // Cookies are shared by all ports of a host: even the right token does not count in one.
    { cookie: `threadmark-${port}=${token}` },
    { cookie: `token=${token}` },
  ];
  for (const path of paths) {
    for (const headers of withoutToken) {
      const { status, body, headers: given } = await ask(port, { path, headers });
      expect([path, headers, status]).toEqual([path, headers, 401]);
      expect(body).not.toContain(token);
      expect(given["cache-control"]).toBe("no-store");
    }
  }
  // An address may be shared or logged: a token in one does not count either.
  expect((await ask(port, { path: `/api/threads?token=${token}` })).status).toBe(401);
});

test("the page, its scripts and styles are served without the token, hold nothing secret and set no cookie", async () => {
  const { inspector, store } = await served();
  await seed(store);
  const { port, token } = inspector;
  const { body: page } = await ask(port, { path: "/" });
  const parts = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path as string);
  // There are a single script and style sheet, whose names change with their content.
  expect(parts).toEqual(["/icon.svg", expect.stringMatching(/^\/style-\w{12}\.css$/), await scriptOf(inspector)]);
  for (const path of ["/", "/?token=AAAA", ...parts]) {
    const { status, body, headers } = await ask(port, { path, headers: { cookie: `threadmark-${port}=wrong` } });
    expect([path, status]).toEqual([path, 200]);
    expect(headers["set-cookie"]).toBeUndefined();
    expect(body).not.toContain(token);
    expect(body).not.toContain("order-17");
    expect(body).not.toContain("test.db");
  }
});

test("another Host is refused: a name of another site may be made to mean this machine", async () => {
  const { inspector } = await served();
  const { port, token } = inspector;
  const authorization = `Bearer ${token}`;
  for (const host of [
    "evil.example",
    `evil.example:${port}`,
    "127.0.0.1",
    `127.0.0.1:${port + 1}`,
    `127.0.0.1.nip.io:${port}`,
  ]) {
    const { status } = await ask(port, { path: "/api/threads", headers: { authorization, host } });
    expect([host, status]).toEqual([host, 403]);
  }
  for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`]) {
    expect((await ask(port, { path: "/api/threads", headers: { authorization, host } })).status).toBe(200);
  }
});

test("requests that pages of other sites make are refused, even with the token", async () => {
  const { inspector, store } = await served();
  await seed(store);
  const { port, token } = inspector;
  const authorization = `Bearer ${token}`;
  const own = `http://127.0.0.1:${port}`;
  const script = await scriptOf(inspector);
  const remove = { path: "/api/delete", method: "POST", body: '{"thread":"order-17"}' };
  const type = { "content-type": "application/json" };
  for (const origin of [
    "http://evil.example",
    "null",
    `http://localhost:${port}`,
    `https://127.0.0.1:${port}`,
    "http://127.0.0.1:1",
  ]) {
    expect((await ask(port, { ...remove, headers: { authorization, origin, ...type } })).status).toBe(403);
    for (const path of ["/api/threads", "/", script]) {
      expect((await ask(port, { path, headers: { authorization, origin } })).status).toBe(403);
    }
  }
  for (const site of ["cross-site", "same-site"]) {
    const headers = { authorization, "sec-fetch-site": site };
    expect((await ask(port, { path: "/api/threads", headers })).status).toBe(403);
    expect((await ask(port, { path: script, headers })).status).toBe(403);
    expect((await ask(port, { ...remove, headers: { ...headers, ...type } })).status).toBe(403);
    // A link may open the page in a tab, not in a frame.
    const followed = { "sec-fetch-site": site, "sec-fetch-mode": "navigate" };
    expect((await ask(port, { path: "/", headers: { ...followed, "sec-fetch-dest": "document" } })).status).toBe(200);
    expect((await ask(port, { path: "/", headers: { ...followed, "sec-fetch-dest": "iframe" } })).status).toBe(403);
  }
  // A form of another site sends no JSON.
  const form = { authorization, origin: own, "content-type": "text/plain" };
  expect((await ask(port, { ...remove, headers: form })).status).toBe(415);
  expect(await store.thread("order-17").latest()).toBeDefined();
  expect((await ask(port, { ...remove, headers: { authorization, origin: own, ...type } })).status).toBe(200);
});

test("it listens on loopback only", async () => {
  const { inspector } = await served();
  const others = Object.values(networkInterfaces())
    .flat()
    .filter((address) => address !== undefined && !address.internal && address.family === "IPv4");
  for (const { address } of others as { address: string }[]) {
    const reached = await new Promise<boolean>((resolve) => {
      const socket = connect({ host: address, port: inspector.port, timeout: 2_000 }, () => resolve(true));
      socket.on("error", () => resolve(false));
      socket.on("timeout", () => resolve(false));
      socket.on("close", () => socket.destroy());
    });
    expect([address, reached]).toEqual([address, false]);
  }
  expect(inspector.address).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#token=[\w-]{32}$/);
});

test("every answer has a strict policy: no inline script or style, nothing from outside, no frames", async () => {
  const { inspector } = await served();
  const authorization = `Bearer ${inspector.token}`;
  for (const path of ["/", await scriptOf(inspector), "/api/threads", "/nowhere", "/api/nowhere"]) {
    const { headers } = await ask(inspector.port, { path, headers: { authorization } });
    const policy = headers["content-security-policy"]!;
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|\*|data:|https?:/);
    expect(headers).toMatchObject({ "x-content-type-options": "nosniff", "referrer-policy": "no-referrer" });
    expect(headers["access-control-allow-origin"]).toBeUndefined();
  }
  const { body } = await ask(inspector.port, { path: "/", headers: { authorization } });
  expect(body).not.toMatch(/<script(?![^>]*\bsrc=)|\bon\w+=|style=|javascript:/i);
});

test("no path leads out of the page's own files", async () => {
  const { inspector } = await served();
  const authorization = `Bearer ${inspector.token}`;
  const paths = [
    "/../server.ts",
    "/../../../package.json",
    "/style/../../server.ts",
    "/%2e%2e/server.ts",
    "/..%2fserver.ts",
    "/..%5cserver.ts",
    "/....//server.ts",
    "//etc/passwd",
    "/etc/passwd",
    "/main.js",
    "/main.tsx",
    `${await scriptOf(inspector)}%00.html`,
    `${await scriptOf(inspector)}/`,
    "/.",
    "http://evil.example/",
    "*",
  ];
  for (const path of paths) {
    const { status, body } = await ask(inspector.port, { path, headers: { authorization } });
    expect([path, status]).toEqual([path, 404]);
    expect(body).toBe('{"error":{"code":"NOT_FOUND","message":"There is no such page."}}');
  }
});

test("every input is checked, and what is wrong changes nothing", async () => {
  const { inspector, store, get, post } = await served();
  await seed(store);
  const { id } = (await store.thread("refund-4").latest())!;
  const place = { thread: "refund-4", checkpoint: id };
  const wrongReads: [string, Record<string, unknown>][] = [
    ["threads", { limit: "0" }],
    ["threads", { limit: "1e9" }],
    ["threads", { offset: "-1" }],
    ["threads", { status: "happy" }],
    ["threads", { extra: "1" }],
    ["thread", {}],
    ["thread", { thread: "" }],
    ["thread", { thread: "x".repeat(600) }],
    ["thread", { thread: "a\u0000b" }],
    ["history", { thread: "refund-4", namespace: "not json" }],
    ["history", { thread: "refund-4", namespace: [1] }],
    ["history", { thread: "refund-4", before: "yesterday" }],
    ["state", { ...place, path: [{}] }],
    ["state", { ...place, path: Array.from({ length: 2_000 }, () => "a") }],
    ["state", { ...place, of: "secrets" }],
    ["state/text", { ...place, path: ["amount"] }],
    ["state/search", { ...place, query: "" }],
    ["marks", { ...place, checkpoints: Array.from({ length: 300 }, () => "a") }],
  ];
  for (const [path, parameters] of wrongReads) {
    const { status } = await get(path, parameters);
    expect([path, parameters, status]).toEqual([path, parameters, 400]);
  }
  const wrongWrites: [string, unknown][] = [
    ["fork", { ...place, into: 7 }],
    ["fork", { ...place, edits: [] }],
    ["fork", { ...place, surprise: true }],
    ["answer", { ...place, interrupt: "1.0#0" }],
    ["label", place],
    ["prune", {}],
    ["prune", { thread: "refund-4", keepLabelled: true }],
    ["prune/preview", { thread: "refund-4" }],
    ["prune", { thread: "refund-4", keepLast: 0 }],
    ["prune", { thread: "refund-4", keepLast: 1e20 }],
    ["prune", { thread: "refund-4", keepLabelled: "yes" }],
    ["delete", { thread: 5 }],
    ["delete", []],
    ["delete", null],
  ];
  for (const [path, body] of wrongWrites) {
    const { status } = await post(path, body);
    expect([path, body, status]).toEqual([path, body, 400]);
  }
  const headers = { authorization: `Bearer ${inspector.token}`, "content-type": "application/json" };
  expect((await ask(inspector.port, { path: "/api/delete", method: "POST", headers, body: "{" })).status).toBe(400);
  const prototype = {
    path: "/api/label",
    method: "POST",
    headers,
    body: `{"__proto__":{"thread":"refund-4"},"label":"x"}`,
  };
  expect((await ask(inspector.port, prototype)).status).toBe(400);
  expect((await ask(inspector.port, { path: "/api/delete", method: "PUT", headers })).status).toBe(405);
  expect((await ask(inspector.port, { path: "/api/delete", headers })).status).toBe(405);
  expect((await store.thread("refund-4").latest())?.id).toBe(id);
});

test("a body that is too large is not read to its end", async () => {
  const { inspector } = await served();
  const headers = { authorization: `Bearer ${inspector.token}`, "content-type": "application/json" };
  const body = `{"thread":"${"x".repeat(BODY_LIMIT)}"}`;
  const answer = await ask(inspector.port, { path: "/api/delete", method: "POST", headers, body }).catch(
    (error: NodeJS.ErrnoException) => error.code,
  );
  // The connection is closed while the rest is still being sent: whether the answer is read before, the system decides.
  if (typeof answer === "object") expect(answer.status).toBe(413);
  else expect(["EPIPE", "ECONNRESET"]).toContain(answer);
});

test("a failure nobody foresaw keeps its details to itself", async () => {
  const { inspector, store, get } = await served();
  await store.close();
  const answer = await get("thread", { thread: "x" });
  expect(answer.status).toBe(503);
  expect(await answer.text()).not.toContain(inspector.token);
});
