import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { BrowserContext } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { browserOfFile } from "../../support/browsers-of-tests.ts";
import { scriptOf, served } from "../support/seed.ts";

const browser = browserOfFile();

interface Neighbour {
  readonly address: string;
  /** Everything that browsers sent here: request lines, headers, bodies. */
  readonly heard: string[];
}

/** Starts another service of this machine: a browser takes it for the same site as the inspector, for cookies have no port. */
async function neighbour(cookies: readonly string[] = []): Promise<Neighbour> {
  const heard: string[] = [];
  const server = createServer({ maxHeaderSize: 2 * 1024 * 1024 }, (request, response) => {
    heard.push(`${request.method} ${request.url} ${request.rawHeaders.join(" ")}`);
    request.on("data", (chunk: Buffer) => heard.push(chunk.toString()));
    response.setHeader("Set-Cookie", [...cookies]);
    response.setHeader("Content-Type", "text/html").end("<!doctype html><title>neighbour</title>");
  });
  server.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, heard };
}

async function newContext(): Promise<BrowserContext> {
  const context = await browser().newContext();
  onTestFinished(() => context.close());
  return context;
}

test("another service on 127.0.0.1 never gets the token, whether it is visited before, after or from the same tab", async () => {
  const { store, inspector } = await served();
  await store.thread("mine").put({ state: { secret: 1 } });
  const other = await neighbour();
  const context = await newContext();
  const page = await context.newPage();
  await page.goto(other.address);
  await page.goto(inspector.address);
  await page.locator("#threads .name").getByText("mine").waitFor();
  await page.goto(other.address);
  const tab = await context.newPage();
  await tab.goto(`${other.address}again`);
  await tab.evaluate(() => fetch("/with-credentials", { credentials: "include" }).then((answer) => answer.text()));
  expect(other.heard.length).toBeGreaterThanOrEqual(4);
  expect(other.heard.filter((text) => text.includes(inspector.token))).toEqual([]);
  expect(await context.cookies()).toEqual([]);
});

test("cookies that another service set first, of any name, size and number, lock nobody out", async () => {
  const { store, inspector } = await served();
  await store.thread("mine").put({ state: { secret: 1 } });
  const wrong = `threadmark-${inspector.port}=wrong; Path=/; HttpOnly`;
  // A browser keeps about 180 cookies a host, of 4 KB each, and sends them all.
  const many = Array.from({ length: 170 }, (_, index) => `filler-${index}=${"x".repeat(4_000)}; Path=/`);
  const context = await newContext();
  const page = await context.newPage();
  for (let index = 0; index < many.length; index += 10) {
    await page.goto((await neighbour([wrong, ...many.slice(index, index + 10)])).address);
  }
  expect((await context.cookies()).length).toBeGreaterThan(150);
  await page.goto(inspector.address);
  await page.locator("#threads .name").getByText("mine").waitFor();
}, 120_000);

/** Attempts by a page of another service; each returns its outcome. They are text because they run in the browser. */
const attempts = `async (origin) => {
  const attempt = (path, options) =>
    fetch(origin + path, options).then(
      async (response) => [response.type, response.status, await response.text()].join(" "),
      () => "refused",
    );
  const element = (name, path) =>
    new Promise((resolve) => {
      const made = document.createElement(name);
      made.onerror = () => resolve("refused");
      // A frame loads the browser's own error page, too, which cannot be read either.
      made.onload = () => resolve(name !== "iframe" ? "loaded" : made.contentDocument === null ? "refused" : "readable");
      made.src = origin + path;
      document.body.append(made);
    });
  return {
    page: await attempt("/", {}),
    script: await attempt("/main.js", { mode: "no-cors" }),
    api: await attempt("/api/threads", { credentials: "include" }),
    live: await attempt("/api/live?questions=[]", { credentials: "include" }),
    header: await attempt("/api/threads", { headers: { Authorization: "Bearer guess" } }),
    form: await attempt("/api/delete", { method: "POST", body: '{"thread":"mine"}', mode: "no-cors" }),
    frame: await element("iframe", "/"),
    element: await element("script", "/main.js"),
    image: await element("img", "/icon.svg"),
    module: await import(origin + "/main.js").then(() => "loaded", () => "refused"),
    stored: JSON.stringify({ ...sessionStorage, ...localStorage }),
  };
}`;

const openedIsCutOff = `async (address) => {
  const opened = open(address);
  for (let tries = 0; tries < 100 && !opened.closed; tries += 1) await new Promise((resolve) => setTimeout(resolve, 50));
  return opened.closed;
}`;

test("another service can neither fetch, frame, import nor open what the inspector serves", async () => {
  const { store, inspector } = await served();
  await store.thread("mine").put({ state: { secret: 1 } });
  const other = await neighbour();
  const context = await newContext();
  const page = await context.newPage();
  await page.goto(inspector.address);
  await page.locator("#threads .name").getByText("mine").waitFor();
  // The tab still has its session storage for the inspector's origin.
  await page.goto(other.address);
  const outcome = await page.evaluate<Record<string, string>>(
    `(${attempts.replaceAll("/main.js", await scriptOf(inspector))})(${JSON.stringify(`http://127.0.0.1:${inspector.port}`)})`,
  );
  expect(Object.entries(outcome).filter(([, answer]) => !["refused", "opaque 0 ", "{}"].includes(answer))).toEqual([]);
  const framed = page.frames().filter((frame) => frame !== page.mainFrame());
  for (const frame of framed) expect(await frame.content()).not.toContain("/main-");
  // An opened window is cut off from its opener: it cannot be read, nor is it known whether it still stands.
  const wrong = `http://127.0.0.1:${inspector.port}/#token=wrong`;
  const [opened, closed] = await Promise.all([
    page.waitForEvent("popup"),
    page.evaluate(`(${openedIsCutOff})(${JSON.stringify(wrong)})`),
  ]);
  expect(closed).toBe(true);
  await opened.close();
  expect(other.heard.filter((text) => text.includes(inspector.token))).toEqual([]);
  expect(await store.thread("mine").latest()).toBeDefined();
}, 60_000);

test("the token leaves the address bar, survives a reload of its tab, and is in no request's address", async () => {
  const { store, inspector } = await served();
  await store.thread("mine").put({ state: { secret: 1 } });
  const page = await (await newContext()).newPage();
  const asked: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  const own = `http://127.0.0.1:${inspector.port}/`;
  await page.goto(inspector.address);
  await page.locator("#threads .name").getByText("mine").click();
  await expect.poll(() => page.url()).toBe(`${own}#/thread/mine`);
  await page.reload();
  await page.getByRole("heading", { name: "mine" }).waitFor();
  await page.goBack();
  await page.locator("#threads .name").getByText("mine").waitFor();
  expect(page.url()).not.toContain(inspector.token);
  // The browser reports the address bar's fragment with a navigation, though it is never sent.
  expect(asked.filter((url) => url.split("#")[0]?.includes(inspector.token))).toEqual([]);
});

test("a new tab without the token says where to get the address, and opens when that is pasted into it", async () => {
  const { store, inspector } = await served();
  await store.thread("mine").put({ state: { secret: 1 } });
  const context = await newContext();
  const page = await context.newPage();
  await page.goto(inspector.address);
  await page.locator("#threads .name").getByText("mine").waitFor();
  const tab = await context.newPage();
  const response = await tab.goto(`http://127.0.0.1:${inspector.port}/`);
  expect(response?.status()).toBe(200);
  await tab.getByRole("heading", { name: "This tab has no valid token" }).waitFor();
  await tab.getByText("threadmark ui").first().waitFor();
  expect(await tab.content()).not.toContain("mine");
  await tab.goto(inspector.address);
  await tab.locator("#threads .name").getByText("mine").waitFor();
});

test("an address with a wrong token takes nothing away from a tab that has the right one", async () => {
  const { store, inspector } = await served();
  await store.thread("mine").put({ state: { secret: 1 } });
  const page = await (await newContext()).newPage();
  const wrong = `http://127.0.0.1:${inspector.port}/#token=wrong`;
  await page.goto(wrong);
  await page.getByRole("heading", { name: "This tab has no valid token" }).waitFor();
  await page.goto(inspector.address);
  await page.locator("#threads .name").getByText("mine").waitFor();
  await page.goto(wrong);
  await expect.poll(() => page.url()).not.toContain("wrong");
  await page.reload();
  await page.locator("#threads .name").getByText("mine").waitFor();
});
