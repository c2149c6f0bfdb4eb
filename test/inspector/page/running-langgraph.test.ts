import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { browserOfFile } from "../../support/browsers-of-tests.ts";
import { goTo, visit } from "../support/browser.ts";
import { type Served, served } from "../support/seed.ts";

const browser = browserOfFile();

/**
 * Writes an application with two graphs of LangGraph: one asks for an approval and fails while a file is missing, the other asks two people
 * at once. Run by itself it starts a thread of each.
 */
function application(url: string, directory: string): string {
  const source = (path: string): string => JSON.stringify(new URL(`../../../src/${path}`, import.meta.url).href);
  const library = JSON.stringify(import.meta.resolve("@langchain/langgraph"));
  const file = join(directory, "graphs.mjs");
  writeFileSync(
    file,
    `import { existsSync } from "node:fs";
import { Annotation, END, interrupt, START, StateGraph } from ${library};
import { ThreadmarkSaver } from ${source("langgraph/index.ts")};
const checkpointer = await ThreadmarkSaver.open(${JSON.stringify(url)});
const Refund = Annotation.Root({ approved: Annotation(), paid: Annotation() });
export const refund = new StateGraph(Refund)
  .addNode("approve", () => ({ approved: interrupt("Refund 12 euros?") }))
  .addNode("pay", () => {
    if (!existsSync(${JSON.stringify(join(directory, "bank"))})) throw new Error("The bank is closed");
    console.log("paid");
    return { paid: true };
  })
  .addEdge(START, "approve")
  .addConditionalEdges("approve", ({ approved }) => (approved ? "pay" : END), ["pay", END])
  .addEdge("pay", END)
  .compile({ checkpointer });
const Votes = Annotation.Root({ votes: Annotation({ reducer: (left, right) => [...left, ...right], default: () => [] }) });
export const vote = new StateGraph(Votes)
  .addNode("ann", () => ({ votes: ["ann " + interrupt("Ann, yes or no?")] }))
  .addNode("ben", () => ({ votes: ["ben " + interrupt("Ben, how much?")] }))
  .addEdge(START, "ann").addEdge(START, "ben").addEdge("ann", END).addEdge("ben", END)
  .compile({ checkpointer });
if (process.argv[2] === "start") {
  for (const thread_id of ["refused", "approved"]) await refund.invoke({}, { configurable: { thread_id } });
  await vote.invoke({}, { configurable: { thread_id: "votes" } });
  await checkpointer.store.close();
}
`,
  );
  return file;
}

async function started(): Promise<Served & { readonly directory: string }> {
  let file = "";
  let directory = "";
  const service = await served({
    app: (url, place) => {
      directory = place;
      file = application(url, place);
      return file;
    },
  });
  execFileSync(process.execPath, [file, "start"]);
  return { ...service, directory };
}

const stateOf = async ({ store }: Served, thread: string): Promise<unknown> =>
  (await store.thread(thread).latest())?.state;

test("with --app a question of LangGraph is answered with No from the page, and its graph runs on", async () => {
  const service = await started();
  const page = await visit(browser(), service.inspector);
  await goTo(page, "#/thread/refused");
  const card = page.getByRole("region", { name: "Question of approve" });
  expect(await card.getByRole("button", { name: "Run on with the answer" }).isDisabled()).toBe(true);
  await card.getByRole("button", { name: "No" }).click();
  await card.getByText(/resume: \{ "[0-9a-f]{32}": false \}/).waitFor();
  await card.getByRole("button", { name: "Run on with the answer" }).click();
  await page.getByRole("log", { name: "Output of the run" }).getByText("The run ended: done.").waitFor();
  await page.locator(".thread-pane .status.done").waitFor();
  expect(await stateOf(service, "refused")).toMatchObject({ approved: false });
}, 90_000);

test("a failed thread of LangGraph, and a fork of it, are run on by the graph that has their nodes", async () => {
  const service = await started();
  const { store, post, get } = service;
  const run = async (thread: string): Promise<{ state: string; output: string }> =>
    ((await (await get("run", { thread })).json()) as { run: { state: string; output: string } }).run;
  const { questions } = (await (await get("inbox", {})).json()) as { questions: { thread: string; id: string }[] };
  const { id } = questions.find(({ thread }) => thread === "approved")!;
  expect((await post("run/start", { thread: "approved", answers: { [id]: { $: "nothing" } } })).status).toBe(400);
  expect((await post("run/start", { thread: "approved", answers: { [id]: true } })).status).toBe(200);
  await expect.poll(async () => (await run("approved")).state, { timeout: 30_000 }).toBe("failed");
  expect((await run("approved")).output).toContain("The bank is closed");
  await store.thread("approved").fork({ into: "again" });
  writeFileSync(join(service.directory, "bank"), "open");
  for (const thread of ["approved", "again"]) {
    expect((await post("run/start", { thread })).status).toBe(200);
    await expect.poll(async () => (await run(thread)).output, { timeout: 30_000 }).toContain("The run ended: done.");
    expect((await run(thread)).output).toContain("paid");
    expect(await stateOf(service, thread)).toMatchObject({ approved: true, paid: true });
  }
  await store.thread("elsewhere").put({ state: {}, next: ["unknown"] });
  expect((await post("run/start", { thread: "elsewhere" })).status).toBe(200);
  await expect.poll(async () => (await run("elsewhere")).state, { timeout: 30_000 }).toBe("failed");
  expect((await run("elsewhere")).output).toContain("exports no one graph with unknown, but refund, vote.");
}, 90_000);

test("of two questions of LangGraph each is answered by its name, from the inbox, whichever was asked first", async () => {
  const service = await started();
  const page = await visit(browser(), service.inspector);
  await goTo(page, "#/inbox");
  const card = (text: string) =>
    page.getByRole("region", { name: /^Question of .* in votes/ }).filter({ hasText: text });
  await card("Ben, how much?").getByRole("textbox", { name: "Answer" }).fill("12");
  await card("Ben, how much?").getByRole("button", { name: "Answer", exact: true }).click();
  await card("Ben, how much?").getByRole("button", { name: "Run on with the answer" }).click();
  await card("Ben, how much?").waitFor({ state: "detached" });
  await card("Ann, yes or no?").getByRole("button", { name: "No" }).click();
  await card("Ann, yes or no?").getByRole("button", { name: "Run on with the answer" }).click();
  await expect
    .poll(() => stateOf(service, "votes"), { timeout: 30_000 })
    .toMatchObject({ votes: ["ann false", "ben 12"] });
}, 90_000);
