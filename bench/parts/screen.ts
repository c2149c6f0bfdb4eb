import type { Browser, Page } from "playwright-core";
import { open, type Store } from "../../src/index.ts";
import { type Inspector, serveInspector } from "../../src/inspector/http/server.ts";
import { launchBrowser } from "../../test/support/chromium.ts";
import type { Part } from "../harness/context.ts";

type State = Record<string, unknown>;

const FLAGS = ["--enable-precise-memory-info", "--js-flags=--expose-gc"];

/** The inspector in a real browser: how soon it shows something, how it scrolls, and the memory of its page. */
export const screen: Part = {
  name: "screen",
  title: "the inspector's page",
  async run({ place, report, quick }) {
    const many = quick ? 10_000 : 100_000;
    const steps = quick ? 2_000 : 10_000;
    const megabytes = quick ? 5 : 50;
    const few = await filled(place.path("few"), 100);
    const lots = await filled(place.path("many"), many);
    const heavy = await filled(place.path("heavy"), many);
    await addLong(heavy, steps);
    await addLarge(heavy, megabytes);
    const browser = await launchBrowser(...FLAGS);
    const [one, other, third] = [
      await serveInspector({ store: few, url: "sqlite:few.db" }),
      await serveInspector({ store: lots, url: "sqlite:many.db" }),
      await serveInspector({ store: heavy, url: "sqlite:heavy.db" }),
    ];
    try {
      const times = { few: [] as number[], many: [] as number[] };
      for (let round = 0; round < (quick ? 3 : 7); round += 1) {
        times.few.push(await firstContent(browser, one));
        times.many.push(await firstContent(browser, other));
      }
      const opened = await openings(browser, third);
      const scrolled = await scrolling(browser, third);
      report.table(
        `The page of a store of ${many.toLocaleString("en")} threads, one of ${steps.toLocaleString("en")} checkpoints and one of ${megabytes} MB`,
        [{ title: "" }, { title: "found", unit: "ms" }],
        [
          ["first thread shown, 100 threads", median(times.few)],
          [`first thread shown, ${many.toLocaleString("en")} threads`, median(times.many)],
          ...Object.entries(opened),
          ...Object.entries(scrolled.longest).map(([what, longest]) => [
            `longest task while scrolling ${what}`,
            longest,
          ]),
        ],
      );
      report.target("first content with many threads against 100", median(times.many) / median(times.few), 1.5);
      report.target(
        "longest task on the main thread while scrolling",
        Math.max(...Object.values(scrolled.longest)),
        50,
        { unit: "ms" },
      );
      report.target("memory of the page's script", scrolled.megabytes, 60, { unit: "MB" });
    } finally {
      await browser.close();
      await one.close();
      await other.close();
      await third.close();
      await few.close();
      await lots.close();
      await heavy.close();
    }
  },
};

async function filled(path: string, threads: number): Promise<Store<State>> {
  const store = await open<State>(`sqlite:${path}`, { fsync: "normal" });
  for (let n = 0; n < threads; n += 1_000)
    await Promise.all(
      Array.from({ length: Math.min(1_000, threads - n) }, (_, i) =>
        store
          .thread(`thread-${n + i}`)
          .put({ state: { n: n + i, note: "a thread" }, node: "begin", workflow: "bench" }),
      ),
    );
  return store;
}

async function addLong(store: Store<State>, steps: number): Promise<void> {
  const thread = store.thread("long");
  const message = (n: number): State => ({
    role: n % 2 === 0 ? "user" : "assistant",
    content: `Message ${n}. ${"words ".repeat(n % 40)}`,
  });
  await thread.put({ state: { messages: [message(0)] }, source: "input" });
  for (let n = 1; n < steps; n += 500)
    await Promise.all(
      Array.from({ length: Math.min(500, steps - n) }, (_, i) =>
        thread.put({ update: { append: { messages: [message(n + i)] } }, node: "add" }),
      ),
    );
}

async function addLarge(store: Store<State>, megabytes: number): Promise<void> {
  const documents = Array.from({ length: megabytes * 1_000 }, (_, n) => ({
    n,
    title: `Document ${n}`,
    text: "lorem ipsum dolor ".repeat(52),
  }));
  await store.thread("large").put({ state: { documents } });
}

/** Measures from the opening of the address to the first thread in the list. */
async function firstContent(browser: Browser, inspector: Inspector): Promise<number> {
  const page = await browser.newPage();
  const start = performance.now();
  await page.goto(inspector.address, { waitUntil: "commit" });
  await page.locator("#threads .name").first().waitFor();
  const took = performance.now() - start;
  await page.close();
  return took;
}

/** Measures how soon each thread that is hard to show is there, from its address on. */
async function openings(browser: Browser, inspector: Inspector): Promise<Record<string, number>> {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.goto(inspector.address);
  await page.locator("#threads .name").first().waitFor({ timeout: 60_000 });
  const found: Record<string, number> = {};
  const places = [
    ["the long thread opened", "#/thread/long?tab=details", "#timeline .step"],
    ["its conversation opened", "#/thread/long?tab=conversation", ".conversation .bubble"],
    ["the large state opened", "#/thread/large?tab=state", ".tree [role=treeitem]"],
  ] as const;
  for (const [what, hash, content] of places) {
    const start = performance.now();
    await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
    await page.locator(content).first().waitFor({ timeout: 120_000 });
    found[what] = performance.now() - start;
  }
  await page.close();
  return found;
}

/** Scrolls through long lists and notes the longest task of each, and the script's memory at the end. */
async function scrolling(
  browser: Browser,
  inspector: Inspector,
): Promise<{ longest: Record<string, number>; megabytes: number }> {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.goto(inspector.address);
  await page.locator("#threads .name").first().waitFor();
  await page.waitForTimeout(1_500);
  const longest: Record<string, number> = { "the threads": await scroll(page, "#threads") };
  const places = [
    ["10,000 checkpoints", "#/thread/long?tab=details", "#timeline"],
    ["a conversation", "#/thread/long?tab=conversation", ".conversation"],
    ["a large state", `#/thread/large?tab=state&path=${encodeURIComponent('["documents",0]')}`, ".tree"],
  ] as const;
  for (const [what, hash, list] of places) {
    await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
    await page.locator(`${list} > *`).first().waitFor({ timeout: 120_000 });
    await page.waitForTimeout(1_500);
    longest[what] = await scroll(page, list);
  }
  await page.evaluate("gc()");
  const bytes = await page.evaluate<number>("performance.memory.usedJSHeapSize");
  await page.close();
  return { longest, megabytes: bytes / 1e6 };
}

/** Scrolls a list as a person would, a piece every frame, and returns the longest task in milliseconds. */
async function scroll(page: Page, list: string): Promise<number> {
  return page.evaluate<number>(`new Promise((resolve) => {
    const box = document.querySelector(${JSON.stringify(list)});
    let longest = 0;
    const observer = new PerformanceObserver((found) => {
      for (const { duration } of found.getEntries()) longest = Math.max(longest, duration);
    });
    observer.observe({ entryTypes: ["longtask"] });
    let frames = 0;
    const step = () => {
      box.scrollBy(0, frames % 40 === 39 ? 20_000 : 120);
      frames += 1;
      if (frames < 240) requestAnimationFrame(step);
      else setTimeout(() => { observer.disconnect(); resolve(longest); }, 300);
    };
    step();
  })`);
}

function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)]!;
}
