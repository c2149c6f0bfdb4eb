import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { browserOfFile } from "../../support/browsers-of-tests.ts";
import { launchBrowser } from "../../support/chromium.ts";
import { goTo, visit } from "../support/browser.ts";
import { served } from "../support/seed.ts";

const browser = browserOfFile();

const script = `<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>`;

test("script in ids, states, labels, nodes and writes is text", async () => {
  const { store, inspector } = await served();
  const id = `"'><svg onload=alert(1)>${script}/../?#%2e%2e`;
  const thread = store.thread(id);
  const head = await thread.put({
    state: { [script]: script, list: [script], map: new Map([[script, script]]), error: new Error(script) },
    node: script,
    workflow: script,
    label: script,
    run: script,
    next: [{ node: script, task: script }],
    interrupts: [{ id: `${script}#0`, node: script, value: script }],
    metadata: { [script]: script },
  });
  await thread.putWrites(head.id, { task: script, node: script, writes: [{ channel: script, value: script }] });
  await store.thread(id, { namespace: [script, script] }).put({ state: {} });
  await thread.fork({ into: `${id}-fork` });
  const page = await visit(browser(), inspector);
  await page.locator("#threads .name").getByText(id, { exact: true }).click();
  await page.getByRole("heading", { name: id, exact: true }).waitFor();
  for (const tab of ["Changes", "Writes", "Details", "State"]) {
    await page.getByRole("tab", { name: tab }).click();
    await page
      .locator("#tab-panel")
      .getByText(tab === "Changes" ? "The first checkpoint" : script)
      .first()
      .waitFor();
  }
  await page
    .locator("#timeline")
    .getByRole("option", { name: /^Nested graph/ })
    .click();
  await page.getByText("to the outer graph").waitFor();
  await page.getByRole("navigation").getByRole("link", { name: "Storage" }).click();
  await page.locator(".sizes").getByText(id, { exact: true }).waitFor();
  expect(await page.evaluate("window.hacked")).toBeUndefined();
  expect(await page.locator("img, main svg[onload]").count()).toBe(0);
});

test("a page of another site gets nothing and changes nothing", async () => {
  const { store, inspector } = await served();
  await store.thread("kept").put({ state: {} });
  const page = await visit(browser(), inspector);
  await page.locator("#threads").getByRole("option").first().waitFor();
  // Another port of this machine is the same site to a browser.
  const evil = createServer((_, response) => response.setHeader("content-type", "text/html").end("<!doctype html>"));
  await new Promise<void>((resolve) => evil.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void evil.close());
  const stranger = await page.context().newPage();
  await stranger.goto(`http://127.0.0.1:${(evil.address() as AddressInfo).port}/`);
  const outcome = await stranger.evaluate(async (port) => {
    const address = `http://127.0.0.1:${port}/api`;
    const body = '{"thread":"kept"}';
    const attempt = (options: RequestInit, path: string): Promise<string> =>
      fetch(`${address}/${path}`, { credentials: "include", ...options }).then(
        (response) => `${response.type} ${response.status}`,
        () => "refused",
      );
    return [
      await attempt({}, "threads"),
      await attempt({ mode: "no-cors" }, "threads"),
      await attempt({ method: "POST", body, headers: { "Content-Type": "application/json" } }, "delete"),
      await attempt({ method: "POST", body, mode: "no-cors" }, "delete"),
    ];
  }, inspector.port);
  // Nothing can be read; what is sent without asking first is refused by the inspector itself.
  for (const answer of outcome) expect(["refused", "opaque 0"]).toContain(answer);
  await stranger.close();
  expect(await store.thread("kept").latest()).toBeDefined();
});

test("a name that is made to mean this machine gets nothing, even with the token", async () => {
  const { store, inspector } = await served();
  await store.thread("secret").put({ state: {} });
  const rebound = await launchBrowser("--host-resolver-rules=MAP rebound.example 127.0.0.1");
  onTestFinished(() => rebound.close());
  const page = await rebound.newPage();
  const address = `http://rebound.example:${inspector.port}`;
  for (const path of ["/", `/#token=${inspector.token}`, "/api/threads"]) {
    // From an empty page: a change of the fragment alone is no request.
    await page.goto("about:blank");
    const response = await page.goto(address + path);
    expect([path, response?.status()]).toEqual([path, 403]);
    expect(await page.content()).not.toContain("secret");
  }
  // A script of the page that now has this name asks where it came from.
  const authorization = `Bearer ${inspector.token}`;
  const status = await page.evaluate(async (headers) => (await fetch("/api/threads", { headers })).status, {
    authorization,
  });
  expect(status).toBe(403);
}, 60_000);

test("a wrong address within the page does no harm", async () => {
  const { store, inspector } = await served();
  await store.thread("t").put({ state: {} });
  const page = await visit(browser(), inspector);
  for (const hash of [
    "#/thread/%E0%A4%A",
    "#/thread/nobody",
    "#/thread/t/nothing",
    "#/thread/t?namespace={",
    "#/nowhere",
  ]) {
    await goTo(page, hash);
    await page.getByRole("region", { name: "Threads" }).waitFor();
    expect(await page.locator("main").textContent()).not.toBe("");
  }
  await goTo(page, "#/thread/nobody");
  await page.getByRole("alert").filter({ hasText: 'There is no thread "nobody".' }).waitFor();
});
