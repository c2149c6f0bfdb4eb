/**
 * A chat agent that asks a person before it acts. The question ends the call; the thread waits in the store, for seconds
 * or for days, until somebody answers. Run it: node examples/ask-before-acting.ts
 */
import { open } from "threadmark";
import { append, END, graph, START } from "threadmark/runtime";
import { type Message, scriptedModel } from "./scripted-model.ts";

interface Chat {
  messages: Message[];
}

const model = scriptedModel([
  [/^refunded/, { text: "Done: the money is on its way." }],
  [/refund/, { text: "I will refund order 17.", call: { tool: "refund", input: "order 17" } }],
  [/^declined/, { text: "I was not allowed to. A colleague will call you." }],
]);

const outside: string[] = [];

const store = await open("memory:");
const agent = graph<Chat>("support")
  .reduce({ messages: append })
  .node("model", async ({ messages }) => ({ messages: [await model(messages)] }))
  .node("act", ({ messages }, ctx) => {
    const call = messages.at(-1)?.call;
    const approved = ctx.interrupt<boolean>({ allow: call });
    // Nothing happens outside before this line. ctx.task stays the same if this task runs again, so the outside can
    // recognise a repetition.
    if (approved) outside.push(`${call?.tool} of ${call?.input} (${ctx.task})`);
    const text = approved ? `refunded ${call?.input}` : `declined by ${ctx.thread}'s supervisor`;
    return { messages: [{ role: "tool", text }] };
  })
  .edge(START, "model")
  .branch("model", ({ messages }) => (messages.at(-1)?.call ? "act" : END), ["act", END])
  .edge("act", "model")
  .compile({ store });

for (const [thread, answer] of [
  ["ann", true],
  ["bob", false],
] as const) {
  const asked = await agent.run({ messages: [{ role: "user", text: "I want a refund." }] }, { thread, run: "1" });
  console.log(`${thread}: ${asked.status}, waiting for an answer to`, asked.interrupts[0]?.value);
  const done = await agent.resume({ thread, value: answer });
  console.log(`${thread}: ${done.status}, ${done.state.messages.at(-1)?.text}`);
}
console.log("what happened outside:", outside);
await store.close();
