import { Command, entrypoint, getPreviousState, interrupt, task } from "@langchain/langgraph";
import { on, type Scenario } from "./scenario.ts";

export const functional: Scenario = {
  name: "a function with tasks",
  async run(checkpointer, thread) {
    const runs: string[] = [];
    const double = task("double", async (n: number) => {
      runs.push(`double ${n}`);
      return n * 2;
    });
    const workflow = entrypoint({ name: "workflow", checkpointer }, async (n: number) => {
      const previous = getPreviousState<number>() ?? 0;
      const [a, b] = await Promise.all([double(n), double(n + 1)]);
      const answer: number = interrupt("how many?");
      return previous + a + b + answer;
    });
    await workflow.invoke(1, on(thread));
    const first = await workflow.invoke(new Command({ resume: 10 }), on(thread));
    await workflow.invoke(2, on(thread));
    const second = await workflow.invoke(new Command({ resume: 20 }), on(thread));
    return [first, second, runs];
  },
};
