import { Session } from "node:inspector/promises";
import { fileURLToPath } from "node:url";
import { open } from "../../src/index.ts";

/**
 * Runs the four flows of ARCHITECTURE.md on a new SQLite store at the path it is given, and prints for each the files of `src`
 * in which a function was entered. It is a program by itself, because the tests run sources that were transformed.
 */

const sources = new URL("../../src/", import.meta.url).href;
const session = new Session();
session.connect();
await session.post("Profiler.enable");
await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });

/** Returns the files in which a function was entered since the last call. The code of a module itself does not count. */
async function entered(): Promise<readonly string[]> {
  const { result } = await session.post("Profiler.takePreciseCoverage");
  const called = result.filter(
    ({ url, functions }) =>
      url.startsWith(sources) && functions.some(({ functionName, ranges }) => functionName !== "" && ranges[0]?.count),
  );
  return called.map(({ url }) => fileURLToPath(url).slice(fileURLToPath(sources).length));
}

const path = process.argv[2] as string;
const flows: Record<string, readonly string[]> = {};

async function follow<T>(title: string, flow: () => Promise<T>): Promise<T> {
  await entered();
  const result = await flow();
  flows[title] = await entered();
  return result;
}

const store = await open(`sqlite:${path}`);
const thread = store.thread("t");
await thread.put({ state: { messages: [], at: new Date(0) } });
for (let step = 1; step <= 200; step += 1) await thread.put({ update: { append: { messages: [`${step}`] } } });
const { id } = await store.thread("empty").put({ state: {} });
await store.thread("empty").deleteCheckpoints([id]);
await follow("A put", () => thread.put({ update: { append: { messages: ["a word"] } } }));
await follow("A fork", () => thread.fork({ at: { step: 120 }, into: "empty", edits: { edited: true } }));
await store.close();
const reopened = await follow("A cold `latest`", async () => {
  const again = await open(`sqlite:${path}`);
  await again.thread("t").latest();
  return again;
});
await follow("A prune", () => reopened.thread("t").prune({ keepLast: 10 }));
await reopened.close();
console.log(JSON.stringify(flows));
