import { Command } from "@langchain/langgraph";
import { expect, test } from "vitest";
import { browserOfFile } from "../../support/browsers-of-tests.ts";
import { seedChat, seedFailures, seedQuestions, seedRefund } from "../support/agents.ts";
import { goTo, visit } from "../support/browser.ts";
import { served } from "../support/seed.ts";

const browser = browserOfFile();

test("a chat of LangGraph opens as a conversation: markdown, calls with their results, tokens, what the step added", async () => {
  const { store, inspector } = await served();
  await seedChat(store);
  const page = await visit(browser(), inspector);
  await goTo(page, "#/thread/weather-chat");
  const talk = page.getByRole("log", { name: "Conversation, 9 messages" });
  await talk.getByText("It is 4 °C in Reykjavík").waitFor();
  expect(await page.getByRole("tab", { name: "Conversation" }).getAttribute("aria-selected")).toBe("true");
  // The newest is at the bottom, and in sight.
  expect(await talk.evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight)).toBeLessThan(5);
  expect(await talk.locator(".turn.added").count()).toBe(1);
  await talk.getByText("added by this step").waitFor();
  expect(await talk.locator(".turn.added footer").textContent()).toContain("412 → 58 tokens");
  await talk.evaluate((box) => box.scrollTo(0, 0));
  await talk.locator("strong").getByText("18 °C").waitFor();
  expect(await talk.locator(".rich-table td").allTextContents()).toEqual(["9", "14", "15", "18"]);
  const card = talk.locator("details.tool-card").first();
  expect(await card.locator("summary").textContent()).toContain("get_weather");
  expect(await card.locator("summary").textContent()).toContain('city: "Lisbon"');
  await card.locator("summary").click();
  await card.getByRole("region", { name: "Result of get_weather" }).getByText('"temperature": 18').waitFor();
  // Results are with their calls, not turns of their own.
  expect(await talk.locator(".turn.tool").count()).toBe(0);
});

test("LangChain's classes have their names, and LangGraph's bookkeeping is folded, in the state and in changes", async () => {
  const { store, inspector } = await served();
  await seedChat(store);
  const page = await visit(browser(), inspector);
  await goTo(page, "#/thread/weather-chat?tab=state");
  const tree = page.getByRole("tree", { name: "State" });
  await tree.getByText("AIMessage").first().waitFor();
  const text = (await tree.textContent()) ?? "";
  expect(text).not.toMatch(/\blc\b|\bkw\b|__langgraph__|__pregel_tasks/);
  await tree.getByRole("treeitem", { name: /internals \(\d\)/ }).click();
  await tree.getByText("__langgraph__").waitFor();
  await page.getByRole("tab", { name: "Changes" }).click();
  await page.locator(".changes > li").first().waitFor();
  expect(await page.locator(".changes").first().textContent()).not.toContain("__langgraph__");
  await page.getByRole("button", { name: /internals \(\d+\)/ }).click();
  await page
    .getByText(/__langgraph__/)
    .first()
    .waitFor();
});

test("LangGraph's interrupt shows as waiting with its question, and the command that answers it works", async () => {
  const { store, inspector } = await served();
  const { refund, config } = await seedRefund(store);
  const page = await visit(browser(), inspector);
  await page.getByRole("button", { name: /^waiting 1/ }).waitFor();
  await goTo(page, "#/thread/refund-19");
  await page.locator(".thread-pane .status.waiting").waitFor();
  expect(await page.locator("#timeline").getByRole("option").first().textContent()).toContain(
    "Refund 129.9 euros for order 17?",
  );
  const card = page.getByRole("region", { name: "Question of approve" });
  await card.getByText("Refund 129.9 euros for order 17?").waitFor();
  await card.getByRole("button", { name: "Yes" }).click();
  await card.getByRole("button", { name: "Copy the command that answers" }).click();
  const code = await page.evaluate<string>("navigator.clipboard.readText()");
  expect(code).toBe('await graph.invoke(new Command({ resume: true }), { configurable: { thread_id: "refund-19" } });');
  const graph = refund;
  const run = new Function("graph", "Command", `return (async () => { ${code} })()`) as (
    ...given: unknown[]
  ) => Promise<void>;
  await run(graph, Command);
  expect(((await graph.getState(config)).values as { approved: boolean }).approved).toBe(true);
  await page.locator(".thread-pane .status.done").waitFor();
  // The question that was answered is amber no more.
  expect(await page.locator("#timeline .tag.waiting").count()).toBe(0);
});

test("a failed thread opens with its error, on the node that failed, and the code that goes on", async () => {
  const { store, inspector } = await served();
  await seedFailures(store, 1);
  const page = await visit(browser(), inspector);
  await goTo(page, "#/thread/article-0");
  const banner = page.getByRole("region", { name: "Failure" });
  await banner.getByText("fetch failed", { exact: true }).waitFor();
  expect(await banner.locator(".headline").textContent()).toMatch(/^publish failed: TypeError/);
  expect(await banner.textContent()).toContain("Can go on from step 2: publish runs again.");
  await banner.getByRole("button", { name: "the code to resume" }).click();
  expect(await banner.locator("pre").last().textContent()).toBe('await flow.resume({ thread: "article-0" });');
  const rows = page.locator("#timeline").getByRole("option");
  expect(await rows.nth(0).locator(".node").textContent()).toBe("publish");
  expect(await rows.nth(0).locator(".tag.failed").count()).toBe(1);
  expect(await rows.nth(1).locator(".node").textContent()).toBe("check");
  expect(await rows.nth(1).locator(".tag.failed").count()).toBe(0);
});

test("equal failures of many threads are one entry", async () => {
  const { store, inspector } = await served();
  await seedFailures(store, 6);
  const page = await visit(browser(), inspector);
  await goTo(page, "#/failures");
  const groups = page.locator(".failure-group");
  await expect.poll(() => groups.count()).toBe(2);
  expect(await groups.first().textContent()).toContain("5 threads");
  await groups.first().getByRole("link", { name: "article-3" }).click();
  await page
    .getByRole("region", { name: "Failure" })
    .locator(".error-message")
    .getByText("503 for article 3")
    .waitFor();
});

test("the inbox answers in place: choices, a form, a text, yes or no, and several at once", async () => {
  const { store, inspector } = await served();
  await seedQuestions(store);
  await seedRefund(store);
  const page = await visit(browser(), inspector);
  await page
    .getByRole("navigation")
    .getByRole("link", { name: /^Inbox/ })
    .click();
  const entry = (thread: string) =>
    page.locator(".inbox-entry").filter({ has: page.getByRole("link", { name: thread }) });
  const answerOf = async (thread: string): Promise<unknown> => {
    const head = await store.thread(thread).latest();
    return (await store.thread(thread).writes(head!.id)).find(({ index }) => index === -4)?.value;
  };
  await entry("ticket-choices").getByRole("button", { name: "replace" }).click();
  await expect.poll(() => answerOf("ticket-choices")).toBe("replace");
  await entry("ticket-form").getByLabel("By *").fill("Ann");
  await entry("ticket-form").getByLabel("amount").fill("12.5");
  await entry("ticket-form").getByLabel("urgent").check();
  await entry("ticket-form").getByRole("button", { name: "Answer", exact: true }).click();
  await expect.poll(() => answerOf("ticket-form")).toEqual({ by: "Ann", amount: 12.5, urgent: true });
  await entry("ticket-text").getByLabel("Answer", { exact: true }).fill("DHL-1");
  await entry("ticket-text").getByRole("button", { name: "Answer", exact: true }).click();
  await expect.poll(() => answerOf("ticket-text")).toBe("DHL-1");
  // LangGraph's question offers its command, and takes no part in answering several.
  await entry("refund-19").getByText("new Command({ resume: … })").waitFor();
  expect(await entry("refund-19").getByRole("checkbox").count()).toBe(0);
  await entry("ticket-yes").getByRole("checkbox").check();
  await page.getByRole("group", { name: "Answer the chosen questions" }).getByRole("button", { name: "No" }).click();
  await expect.poll(() => answerOf("ticket-yes")).toBe(false);
  await expect.poll(() => page.locator(".inbox-entry").count()).toBe(1);
});
