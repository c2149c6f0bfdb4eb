import { type Chat, langchain } from "../workloads/langchain.ts";
import { History } from "./measured-thread.ts";
import type { Opened } from "./system.ts";

/** Compiles the way of a LangGraph step, on short conversations that are not measured. */
export async function warmSteps(opened: Opened, threads: number, chat: Chat = langchain): Promise<void> {
  for (let thread = 0; thread < threads; thread += 1) {
    const history = new History(opened, chat, `warm-up-${thread}`);
    await history.begin(chat.of(50));
    await history.advance(100);
  }
}
