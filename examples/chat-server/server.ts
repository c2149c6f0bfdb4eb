/** A chat server that asks before it acts. Run it: node server.ts, with PORT and THREADMARK_URL if you like. */
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { open } from "threadmark";
import { append, END, type Frozen, graph, START } from "threadmark/runtime";

interface Chat {
  messages: { readonly from: "user" | "agent"; readonly text: string }[];
}

/** Stands in for a model: proposes a refund for an order that the user names. */
function orderOf({ messages }: Frozen<Chat>): string | undefined {
  return /refund .*order (\d+)/i.exec(messages.at(-1)?.text ?? "")?.[1];
}

const store = await open(process.env.THREADMARK_URL ?? "sqlite:chat.db");
const agent = graph<Chat>("chat")
  .reduce({ messages: append })
  .node("answer", () => ({ messages: [{ from: "agent", text: "How can I help?" }] }))
  .node("refund", (state, ctx) => {
    const approved = ctx.interrupt<boolean>({ refund: orderOf(state) });
    return {
      messages: [{ from: "agent", text: approved ? "The refund is on its way." : "I may not do that." }],
    };
  })
  .branch(START, (state) => (orderOf(state) === undefined ? "answer" : "refund"), ["answer", "refund"])
  .edge("answer", END)
  .edge("refund", END)
  .compile({ store });

const server = createServer(async (request, response) => {
  const reply = (status: number, body: unknown): void => {
    response.writeHead(status, { "content-type": "application/json" }).end(`${JSON.stringify(body)}\n`);
  };
  try {
    const [, thread] = /^\/chat\/([\w-]{1,64})$/.exec(request.url ?? "") ?? [];
    if (request.method !== "POST" || thread === undefined) return reply(404, { error: "POST to /chat/<name>" });
    const { text, approve } = await bodyOf(request);
    if (typeof approve !== "boolean" && typeof text !== "string") return reply(400, { error: "send text or approve" });
    const { status, state, interrupts } =
      typeof approve === "boolean"
        ? await agent.resume({ thread, value: approve })
        : await agent.run({ messages: [{ from: "user", text: String(text) }] }, { thread });
    reply(200, { status, last: state.messages.at(-1)?.text, asks: interrupts.map(({ value }) => value) });
  } catch (error) {
    const { code = "FAILED", message } = error as { readonly code?: string; readonly message: string };
    reply(409, { error: code, message });
  }
});

async function bodyOf(request: IncomingMessage): Promise<{ readonly text?: unknown; readonly approve?: unknown }> {
  let text = "";
  for await (const chunk of request) {
    text += String(chunk);
    if (text.length > 100_000) throw new Error("The message is too long.");
  }
  return JSON.parse(text);
}

server.listen(Number(process.env.PORT ?? 3000), "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
process.on("SIGTERM", () => server.close(() => void store.close()));
