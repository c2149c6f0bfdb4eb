import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { open, type Store } from "../src/index.ts";
import { serveInspector } from "../src/inspector/http/server.ts";
import { append, END, graph, START, send } from "../src/runtime/index.ts";
import { seedChat, seedFailures, seedQuestions, seedRefund } from "../test/inspector/support/agents.ts";
import { type State, seed } from "../test/inspector/support/seed.ts";
import { launchBrowser } from "../test/support/chromium.ts";

/**
 * Takes pictures of the inspector on the store that its tests use. Without an argument those of the documentation, into docs/images;
 * with a directory every view, light and dark, at three widths, to look at.
 */
const [elsewhere] = process.argv.slice(2);
const images = elsewhere ?? fileURLToPath(new URL("../docs/images/", import.meta.url));
const directory = mkdtempSync(join(tmpdir(), "threadmark-screenshots-"));
const store = await open<State>(`sqlite:${join(directory, "agent.db")}`);
await seed(store);
await seedFailures(store);
await seedQuestions(store);
await seedRefund(store);
await seedResearch(store as unknown as Store);
await seedChat(store);
const inspector = await serveInspector({ store, url: "sqlite:agent.db" });
const browser = await launchBrowser();

type Scheme = "light" | "dark";
interface View {
  readonly name: string;
  readonly hash: string;
  /** Waits until the view is there. */
  readonly ready: (page: Page) => Promise<void>;
}

const heading = (name: string) => (page: Page) => page.getByRole("heading", { name, exact: true }).waitFor();
const sight = (selector: string) => (page: Page) => page.locator(selector).first().waitFor();
const talk = (page: Page): Promise<void> => page.getByText("It is 4 °C in Reykjavík").last().waitFor();

/** Every view of the page. */
const views: readonly View[] = [
  { name: "overview", hash: "#/", ready: sight(".activity") },
  { name: "thread", hash: "#/thread/weather-chat", ready: talk },
  { name: "state", hash: "#/thread/order-17?tab=state", ready: sight(".tree [role=treeitem]") },
  { name: "changes", hash: "#/thread/order-17?tab=changes", ready: sight(".changes > li") },
  { name: "failure", hash: "#/thread/article-0", ready: sight(".failure-banner") },
  { name: "question", hash: "#/thread/refund-19", ready: sight(".question-card") },
  { name: "graph", hash: "#/thread/research-1?shape=graph", ready: sight(".graph-node") },
  { name: "time", hash: "#/thread/research-1?shape=time", ready: sight(".span-bar.task") },
  { name: "inbox", hash: "#/inbox", ready: (page) => page.getByRole("button", { name: "replace" }).waitFor() },
  { name: "failures", hash: "#/failures", ready: sight(".failure-group") },
  { name: "compare", hash: "#/compare/order-17?other=order-17-again", ready: sight(".compare-row") },
  {
    name: "storage",
    hash: "#/storage",
    ready: (page) => page.getByRole("table", { name: /^What a prune/ }).waitFor({ timeout: 60_000 }),
  },
  { name: "missing", hash: "#/thread/none", ready: heading("none") },
];

if (elsewhere !== undefined) {
  const sizes = { wide: [1440, 900], middle: [1024, 768], phone: [390, 844] } as const;
  for (const view of views)
    for (const scheme of ["light", "dark"] as const)
      for (const [size, [width, height]] of Object.entries(sizes))
        await picture(view, { width, height }, scheme, `${view.name}-${size}-${scheme}`);
} else {
  const sizes: Readonly<Record<string, readonly [number, number]>> = {
    overview: [1280, 800],
    inbox: [1000, 720],
    storage: [1160, 900],
    time: [1280, 620],
  };
  for (const view of views) {
    if (["missing", "question", "state", "failures", "compare"].includes(view.name)) continue;
    const [width, height] = sizes[view.name] ?? [1280, 720];
    await picture(view, { width, height }, "light", view.name);
    await picture(view, { width, height }, "dark", `${view.name}-dark`);
  }
  const phone = { width: 390, height: 720 };
  await picture(views[0]!, phone, "light", "phone");
  await picture(views[0]!, phone, "dark", "phone-dark");
}

await browser.close();
await inspector.close();
await store.close();
rmSync(directory, { recursive: true, force: true });

async function picture(
  { hash, ready }: View,
  viewport: { readonly width: number; readonly height: number },
  colorScheme: Scheme,
  name: string,
): Promise<void> {
  const context = await browser.newContext({ viewport, colorScheme });
  const page = await context.newPage();
  await page.goto(inspector.address);
  await page.waitForURL(`http://127.0.0.1:${inspector.port}/`);
  await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
  // On a phone a thread shows its steps first, and the rest of the view is out of sight.
  if (viewport.width >= 500) await ready(page);
  else await page.waitForTimeout(1_500);
  // Lines of rows that take longer come a moment later.
  await page.waitForTimeout(1_000);
  const path = join(images, `${name}.png`);
  await page.screenshot({ path });
  shrink(path);
  await context.close();
}

/** Reduces a picture to 256 colours, a third of its bytes, if Debian's pngquant is there. */
function shrink(path: string): void {
  if (existsSync("/usr/bin/pngquant")) execFileSync("/usr/bin/pngquant", ["--force", "--ext", ".png", "256", path]);
}

/** A workflow with a fan-out, a nested graph, and a branch that is never taken. */
async function seedResearch(target: Store): Promise<void> {
  const work = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));
  const check = graph<{ log: string[] }>("check")
    .reduce({ log: append })
    .node("compare", async () => work(60))
    .node("rate", async () => work(35))
    .edge(START, "compare")
    .edge("compare", "rate")
    .edge("rate", END);
  const flow = graph<{ log: string[]; draft?: string }>("research")
    .reduce({ log: append })
    .node("plan", async () => {
      await work(40);
      return { log: ["planned to read three chapters"] };
    })
    .node("read", async (_, { arg }) => {
      await work(70 + String(arg).length * 40);
      return { log: [`read ${String(arg)}`] };
    })
    .graph("check", check, { output: () => ({ log: ["checked"] }) })
    .node("write", async () => {
      await work(90);
      return { draft: "The tide follows the moon, and a little the sun.", log: ["wrote a draft"] };
    })
    .node("revise", () => ({ log: ["revised"] }))
    .node("publish", () => ({ log: ["published"] }))
    .edge(START, "plan")
    .branch("plan", () => ["moon", "sun", "coast"].map((topic) => send("read", topic)), ["read"])
    .edge("read", "check")
    .edge("check", "write")
    .branch("write", () => "publish", ["publish", "revise"])
    .edge("revise", "write")
    .edge("publish", END)
    .compile({ store: target });
  await flow.run({ log: [] }, { thread: "research-1" });
}
