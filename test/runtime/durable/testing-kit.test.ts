import { expect, test } from "vitest";
import { open } from "../../../src/index.ts";
import { END, graph, START } from "../../../src/runtime/index.ts";
import { FakeClock, scripted } from "../../../src/runtime/testing/index.ts";

test("sleep, retry, timeout and a question's time limit are tested without waiting", async () => {
  const clock = new FakeClock();
  await using store = await open("memory:", { clock: clock.now });
  const charge = scripted([new Error("down"), new Error("down")], () => "receipt");
  const flow = graph<{ receipt?: string; answer?: string }>("order")
    .node("charge", () => ({ receipt: charge() }), { retry: { attempts: 3, backoff: 60_000 } })
    .node("hang", (_, ctx) => (ctx.attempt === 1 ? new Promise<never>(() => {}) : undefined), {
      timeout: 30_000,
      retry: { attempts: 2 },
    })
    .node("ask", async (_, ctx) => {
      await ctx.sleep(3_600_000);
      return { answer: ctx.interrupt<string>("?", { timeout: 86_400_000, default: "nobody" }) };
    })
    .edge(START, "charge")
    .edge("charge", "hang")
    .edge("hang", "ask")
    .edge("ask", END)
    .compile({ store, clock });
  const running = flow.run({}, { thread: "t" });
  await clock.advance(60_000 + 120_000 + 30_000);
  expect((await running).due).toBe(clock.now() + 3_600_000);
  const worker = flow.worker({ poll: 600_000 });
  await clock.advance(3_600_000);
  await expect.poll(async () => (await flow.state("t"))?.interrupts.length, { timeout: 10_000 }).toBe(1);
  await clock.advance(86_400_000);
  await expect
    .poll(async () => (await flow.state("t"))?.state, { timeout: 10_000 })
    .toEqual({ receipt: "receipt", answer: "nobody" });
  await worker.stop();
});
