import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { setTimeout as pause } from "node:timers/promises";

/** Milliseconds between two answers to a question; fewer while an answer says that it is incomplete. */
const INTERVAL = 2_000;
const SHORT_INTERVAL = 500;

/** A GET request of the API whose answer is sent again whenever it changes. */
export type LiveQuestion = () => Promise<LiveAnswer>;

/** The fields of a line: the answer to a question, or the error instead. */
export type LiveAnswer =
  | { readonly answer: unknown }
  | { readonly error: { readonly code: string; readonly message: string } };

/**
 * Answers questions until the client hangs up: at first a line of JSON for each, then a line for each answer that
 * changed. Other processes may write to the store, so only asking it again can tell.
 */
export async function streamAnswers(questions: readonly LiveQuestion[], response: ServerResponse): Promise<void> {
  response.setHeader("Content-Type", "application/x-ndjson; charset=utf-8");
  response.setHeader("Cache-Control", "no-store");
  response.flushHeaders();
  const hungUp = new AbortController();
  response.once("close", () => hungUp.abort());
  const { signal } = hungUp;
  const sent: string[] = [];
  try {
    while (!signal.aborted) {
      let isUnderWay = false;
      for (const [index, question] of questions.entries()) {
        const answer = await question();
        isUnderWay ||= "answer" in answer && isIncomplete(answer.answer);
        const line = `${JSON.stringify({ question: index, ...answer })}\n`;
        if (signal.aborted) return;
        if (sent[index] === line) continue;
        sent[index] = line;
        if (!response.write(line)) await once(response, "drain", { signal });
      }
      await pause(isUnderWay ? SHORT_INTERVAL : INTERVAL, undefined, { signal });
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Tells whether an answer is a list still being made, or a measurement still running. */
function isIncomplete(answer: unknown): boolean {
  const { complete, state } = answer as { readonly complete?: unknown; readonly state?: unknown };
  return complete === false || state === "running";
}
