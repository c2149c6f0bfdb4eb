import { open } from "../../src/index.ts";

/** Verifies a store and exports it, in a process of its own whose heap a test has made small. Prints what it found. */
const [url] = process.argv.slice(2);
const store = await open(url as string, { cacheBytes: 4 * 2 ** 20 });
const { ok } = await store.verify();
let characters = 0;
for await (const line of store.export()) characters += line.length;
await store.close();
process.stdout.write(JSON.stringify({ ok, characters }));
