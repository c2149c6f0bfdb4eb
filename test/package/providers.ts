import { execFile, execFileSync } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { packInto } from "../../scripts/pack.ts";
import { makeFolder, removeFolder } from "../support/temporary-folder.ts";

/**
 * Runs the example `model-providers` with the real libraries of OpenAI and Vercel, against a server on this machine that answers
 * like OpenAI's: their code runs, no key and no network are needed.
 */
process.chdir(fileURLToPath(new URL("../../", import.meta.url)));

const libraries = { openai: "6.49.0", ai: "6.0.326", "@ai-sdk/openai": "3.0.139" };

async function bodyOf(request: IncomingMessage): Promise<{ model: string; messages?: unknown[]; input?: unknown[] }> {
  let text = "";
  for await (const chunk of request) text += String(chunk);
  return JSON.parse(text);
}

/** Answers `answer n`, n being the number of messages so far. The path tells which of OpenAI's two interfaces is used. */
const server = createServer(async (request, response) => {
  const { model, messages, input } = await bodyOf(request);
  const text = `answer ${(messages ?? input ?? []).length}`;
  const chat = {
    object: "chat.completion",
    choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: text } }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  };
  const content = [{ type: "output_text", text, annotations: [] }];
  const responses = {
    object: "response",
    status: "completed",
    output: [{ type: "message", id: "message", role: "assistant", status: "completed", content }],
    usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
  };
  const answer = request.url?.endsWith("/chat/completions") ? chat : responses;
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ id: "one", created: 1, created_at: 1, model, ...answer }));
});
server.listen(0, "127.0.0.1");
await once(server, "listening");
const { port } = server.address() as AddressInfo;

const folder = makeFolder();
try {
  const dependencies = { threadmark: `file:${packInto(folder)}`, ...libraries };
  writeFileSync(
    join(folder, "package.json"),
    JSON.stringify({ name: "providers", private: true, type: "module", dependencies }),
  );
  const quiet = ["--no-fund", "--no-audit", "--ignore-scripts", "--prefer-offline", "--loglevel=error"];
  execFileSync("npm", ["install", ...quiet], { cwd: folder, stdio: ["ignore", "inherit", "inherit"] });
  copyFileSync("examples/model-providers/chat.ts", join(folder, "chat.ts"));
  const ask = async (environment: NodeJS.ProcessEnv, expected: string): Promise<void> => {
    const env = { ...process.env, ...environment };
    const { stdout } = await promisify(execFile)(process.execPath, ["chat.ts", "Hello!"], { cwd: folder, env });
    if (stdout.trim() !== expected) throw new Error(`expected ${expected}, got ${stdout}`);
  };
  const provider = { OPENAI_API_KEY: "none", OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1` };
  await ask(provider, "answer 1");
  await ask({ ...provider, USE_AI_SDK: "1" }, "answer 3");
  await ask(provider, "answer 5");
  console.log("the example talks to OpenAI's library and to the AI SDK, and goes on with its conversation");
} finally {
  removeFolder(folder);
  server.close();
}
