import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import type { Store } from "../../../src/index.ts";
import { seedChat, seedFailures, seedQuestions, seedRefund } from "../../inspector/support/agents.ts";
import { storeWith, threadmark } from "../run.ts";

const lines = (text: string): string[] => stripVTControlCharacters(text).trimEnd().split("\n");
const wide = { terminal: { columns: 80, rows: 1_000 } };

test("show and diff name LangChain's classes and fold LangGraph's internals; --full prints them", async () => {
  const url = await storeWith((store) => seedChat(store));
  const { out } = await threadmark(["show", "weather-chat", url]);
  expect(out).toContain("AIMessage {\n      content: 'Let me look that up.',");
  expect(out).toContain("internals (2) of LangGraph: --full");
  expect(out).not.toMatch(/\blc:|\bkw:|__langgraph__|__pregel_tasks/);
  const part = await threadmark(["show", "weather-chat", "messages[0]", url]);
  expect(part.out).toMatch(/^SystemMessage \{/);
  const diff = await threadmark(["diff", "weather-chat", "@7", "@8", url]);
  expect(diff.out).toMatch(/^\+ messages\[8\]: AIMessage \{/);
  expect(lines(diff.out).at(-1)).toBe("internals (4) of LangGraph: --full");
  expect((await threadmark(["show", "weather-chat", url, "--full"])).out).toContain("__langgraph__");
  expect((await threadmark(["diff", "weather-chat", "@7", "@8", url, "--full"])).out).toContain("__langgraph__");
});

test("show begins with what a thread waits for, LangGraph's questions too, and with what it failed with", async () => {
  const url = await storeWith(async (store) => {
    await seedRefund(store);
    await seedFailures(store, 1);
  });
  expect(lines((await threadmark(["show", "refund-19", url])).out).slice(0, 5)).toEqual([
    expect.stringMatching(/^approve asks \w+$/),
    "  Refund 129.9 euros for order 17?",
    "  answers: yes | no",
    "  with { amount: 129.9 }",
    '  graph.invoke(new Command({ resume: … }), { configurable: { thread_id: "refund-19" } })',
  ]);
  expect(lines((await threadmark(["show", "article-0", url])).out).slice(0, 4)).toEqual([
    "publish failed: TypeError NODE_FAILED",
    "  fetch failed",
    "  because Error: getaddrinfo ENOTFOUND cms.example",
    expect.stringMatching(/^ {2}at /),
  ]);
});

test("threads says what each asks or failed with, and one long id drives no column out", async () => {
  const url = await storeWith(async (store) => {
    await store.thread(`tenant/${"0".repeat(120)}/end`).put({ state: {} });
    for (let n = 0; n < 8; n += 1) await store.thread(`plain-${n}`).put({ state: {}, node: "act" });
    await seedQuestions(store);
    await seedFailures(store, 2);
  });
  const { out } = await threadmark(["threads", url], wide);
  const rows = lines(out);
  expect(rows[0]).toMatch(/^THREAD +STATUS +WORKFLOW .*UPDATED +ASKS OR FAILED$/);
  expect(rows.every((row) => row.length <= 80)).toBe(true);
  expect(rows.join("\n")).toMatch(/ticket-yes +waiting +\S.* Publish the draft now\?/);
  expect(rows.join("\n")).toMatch(/article-0 +failed +\S.* publish: fetch failed/);
  expect(rows.join("\n")).toMatch(/tenant…\S+end +done/);
});

test("history keeps the node beside the change at 80 columns, and names an input as such", async () => {
  const url = await storeWith((store) => seedChat(store));
  const rows = lines((await threadmark(["history", "weather-chat", url], wide)).out);
  expect(rows[0]).toMatch(/^CHECKPOINT +STEP +NODE +NEXT +COMMITTED +CHANGE$/);
  expect(rows.slice(1).map((row) => row.split(/\s+/)[2])).toEqual(
    "agent tools agent start input agent tools agent start input".split(" "),
  );
  expect(rows.every((row) => row.length <= 80)).toBe(true);
});

test("search finds threads by their attributes, and watch is another name of tail", async () => {
  const url = await storeWith(async (store: Store<Record<string, unknown>>) => {
    await store.thread("a").put({ state: {}, attributes: { tenant: "acme" } });
    await store.thread("b").put({ state: {}, attributes: { tenant: "other" } });
  });
  expect(lines((await threadmark(["search", "tenant=acme", url])).out)).toEqual(["a @0 attribute  tenant=acme"]);
  const controller = new AbortController();
  const { out } = await threadmark(["watch", "a", url], {
    signal: controller.signal,
    hear: () => controller.abort(),
  });
  expect(out).toMatch(/ 0 +step +done /);
});
