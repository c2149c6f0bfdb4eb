import { History } from "./history.ts";
import type { Opened } from "./systems/system.ts";
import { langchain, langchainOf } from "./workloads/langchain.ts";

/** Compiles the way of a LangGraph step, on short conversations that are not measured. */
export async function warmSteps(opened: Opened, threads: number): Promise<void> {
  for (let thread = 0; thread < threads; thread += 1) {
    const history = new History(opened, langchain, `warm-up-${thread}`);
    await history.begin(langchainOf(50));
    await history.advance(100);
  }
}
