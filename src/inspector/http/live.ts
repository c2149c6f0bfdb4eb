import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { setTimeout as pause } from "node:timers/promises";

/** How often questions are answered again; more often while an answer says itself that it is not complete yet. */
const INTERVAL = 2_000;
const SHORT_INTERVAL = 500;

/** A GET request of the API whose answer is wanted again whenever it changes. */
export type Question = () => Promise<Answer>;

/** The fields of one line: the answer to a question, or why there is none. */
export type Answer =
  | { readonly answer: unknown }
  | { readonly error: { readonly code: string; readonly message: string } };

/**
 * Answers questions until the client hangs up: a line of JSON for each at once, then one for each answer that is another
 * than the last. Other processes may write to the store, so that only asking it again can tell.
 */
export async function streamAnswers(questions: readonly Question[], response: ServerResponse): Promise<void> {
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

/** A list of threads that is still being made, or a measurement that runs. */
function isIncomplete(answer: unknown): boolean {
  const { complete, state } = answer as { readonly complete?: unknown; readonly state?: unknown };
  return complete === false || state === "running";
}
