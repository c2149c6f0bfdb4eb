import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import type { ChangeSignal } from "../caches/changes.ts";

/**
 * Milliseconds until a question is asked again without a change: a lease that runs out, or a store that cannot be watched.
 * Fewer while an answer says that it is incomplete.
 */
const INTERVAL = 2_000;
const SHORT_INTERVAL = 400;
/** The least pause between two answers, in milliseconds, times how long an answer takes: a busy store must not occupy the server. */
const LEAST_PAUSE = 200;
const PAUSE_FACTOR = 3;

/** A GET request of the API whose answer is sent again whenever it changes. */
export type LiveQuestion = () => Promise<LiveAnswer>;

/** The fields of a line: the answer to a question, or the error instead. */
export type LiveAnswer =
  | { readonly answer: unknown }
  | { readonly error: { readonly code: string; readonly message: string } };

/**
 * Answers questions until the client hangs up: at first a line of JSON for each, then a line for each answer that
 * changed, soon after a commit of any process. Questions do not wait for each other: a large state is no reason to show
 * nothing else.
 */
export async function streamAnswers(
  questions: readonly LiveQuestion[],
  response: ServerResponse,
  changes: ChangeSignal,
): Promise<void> {
  response.setHeader("Content-Type", "application/x-ndjson; charset=utf-8");
  response.setHeader("Cache-Control", "no-store");
  response.flushHeaders();
  const hungUp = new AbortController();
  response.once("close", () => hungUp.abort());
  const { signal } = hungUp;
  try {
    await Promise.all(questions.map((question, index) => follow(question, index, response, changes, signal)));
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

async function follow(
  question: LiveQuestion,
  index: number,
  response: ServerResponse,
  changes: ChangeSignal,
  signal: AbortSignal,
): Promise<void> {
  let sent = "";
  while (!signal.aborted) {
    const [seen, started] = [changes.count, performance.now()];
    const answer = await question();
    const line = `${JSON.stringify({ question: index, ...answer })}\n`;
    if (signal.aborted) return;
    if (line !== sent) {
      sent = line;
      if (!response.write(line)) await once(response, "drain", { signal });
    }
    const isUnderWay = "answer" in answer && isIncomplete(answer.answer);
    await pause(Math.max(LEAST_PAUSE, (performance.now() - started) * PAUSE_FACTOR), undefined, { signal });
    await changes.wait(seen, isUnderWay ? SHORT_INTERVAL : INTERVAL, signal);
  }
}

/** Tells whether an answer is a list still being made, or a measurement still running. */
function isIncomplete(answer: unknown): boolean {
  const { complete, state } = answer as { readonly complete?: unknown; readonly state?: unknown };
  return complete === false || state === "running";
}
