// A process that puts into one file beside others, as fast as it can, each into a thread of its own, with the built
// package: `writer.mjs dist-url path number seconds mode`. Says "ready", waits for a line on its standard input, and prints
// what it did. Plain JavaScript, so that eight of them start at once without stripping types.
const [dist, path, number, seconds, mode] = process.argv.slice(2);
const { open } = await import(new URL("index.js", dist));
const { nodeDriver, sqlite } = await import(new URL("backends/sqlite/index.js", dist));

const node = nodeDriver();
if (node === undefined) throw new Error("This Node has no node:sqlite.");

/** Makes equal commits, but waits for the lock as SQLite itself does. */
const busyHandler = {
  ...node,
  open(file, options) {
    const connection = node.open(file, options);
    connection.exec("PRAGMA busy_timeout = 60000");
    return connection;
  },
};

const store = await open(await sqlite(path, { driver: mode === "turns" ? node : busyHandler, fsync: "full" }));
const thread = store.thread(`writer-${number}`);
let puts = 0;
await thread.put({ state: { messages: [], turn: 0 } });
process.stdout.write("ready\n");
await new Promise((resolve) => process.stdin.once("data", resolve));

const end = performance.now() + Number(seconds) * 1_000;
let longest = 0;
while (performance.now() < end) {
  puts += 1;
  const message = { id: `m${puts}`, role: "user", content: `${number} ${puts} `.padEnd(440, "what was said, ") };
  const start = performance.now();
  await thread.put({ update: { append: { messages: [message] }, set: { turn: puts } }, node: "plan", next: ["act"] });
  longest = Math.max(longest, performance.now() - start);
}
const { state } = await thread.latest();
if (state.messages.length !== puts || state.turn !== puts) throw new Error("Another state was read than was put.");
process.stdout.write(`${JSON.stringify({ puts, longest })}\n`);
await store.close();
process.exit();
