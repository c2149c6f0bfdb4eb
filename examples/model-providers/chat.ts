/** A chat loop that saves every turn, with a model of your choice. Run it: node chat.ts "a question" */
import { open } from "threadmark";

interface Message {
  readonly role: "user" | "assistant";
  readonly content: string;
}

type Model = (messages: readonly Message[]) => Promise<string>;

const name = process.env.MODEL ?? "gpt-4o-mini";
/** Imports a library that is installed only where its provider is used. */
const load = (library: string) => import(library);

async function modelOf(environment: NodeJS.ProcessEnv): Promise<Model> {
  if (environment.OPENAI_API_KEY === undefined) {
    return async (messages) => `You said ${messages.length === 1 ? "first" : "then"}: ${messages.at(-1)?.content}`;
  }
  if (environment.USE_AI_SDK !== undefined) {
    const [{ generateText }, { openai }] = await Promise.all([load("ai"), load("@ai-sdk/openai")]);
    return async (messages) => (await generateText({ model: openai(name), messages })).text;
  }
  const client = new (await load("openai")).default();
  return async (messages) =>
    (await client.chat.completions.create({ model: name, messages })).choices[0].message.content;
}

const model = await modelOf(process.env);
const store = await open<{ messages: Message[] }>(process.env.THREADMARK_URL ?? "file:./chats");
const thread = store.thread("me");
const question: Message = { role: "user", content: process.argv[2] ?? "Hello!" };
const before = (await thread.latest())?.state.messages ?? [];

// Saved before the model is called: a crash does not lose the question, and the answer is paid for once.
await thread.put({ state: { messages: [...before, question] }, source: "input", next: ["model"] });
const answer = await model([...before, question]);
await thread.put({ update: { append: { messages: [{ role: "assistant", content: answer }] } }, node: "model" });
console.log(answer);
await store.close();
