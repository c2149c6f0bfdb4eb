import { open } from "../../src/index.ts";

/** Opens a file store that another process filled, lists threads and reads one: how long it took, and how much memory. */
const { path, cold } = JSON.parse(process.argv[2] as string) as { path: string; cold: string };
const megabytes = (): number => process.memoryUsage().rss / 2 ** 20;
// Modules that are loaded when a store is first used are no part of opening one.
const unused = await open(`file:${cold}`);
await unused.thread("none").latest();
await unused.close();
const before = megabytes();
const marks: number[] = [performance.now()];
const store = await open<{ messages: unknown[] }>(`file:${path}`);
marks.push(performance.now());
let listed = 0;
for await (const _ of store.threads({ limit: 100 })) listed += 1;
marks.push(performance.now());
const state = (await store.thread("thread-7").latest())?.state;
marks.push(performance.now());
const after = megabytes();
await store.close();
const [began = 0, opened = 0, listedAt = 0, read = 0] = marks;
process.stdout.write(
  JSON.stringify({
    open: opened - began,
    list: listedAt - opened,
    latest: read - listedAt,
    memory: after - before,
    listed,
    messages: state?.messages.length,
  }),
);
