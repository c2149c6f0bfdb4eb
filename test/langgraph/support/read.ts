import { open } from "../../../src/api/open.ts";
import { ThreadmarkSaver } from "../../../src/langgraph/index.ts";
import { dumpThread } from "./dump.ts";

/** Another process that reads threads: `read.ts <url> <options as JSON> <thread>…` prints what it found, by thread. */
const [url, options, ...threads] = process.argv.slice(2);
await using store = await open(url as string, JSON.parse(options as string) as Record<string, unknown>);
const saver = new ThreadmarkSaver(store);
const dumps: Record<string, string[]> = {};
for (const thread of threads) dumps[thread] = await dumpThread(saver, thread);
process.stdout.write(JSON.stringify(dumps));
