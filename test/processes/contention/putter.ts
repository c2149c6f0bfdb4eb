/**
 * Run as one of several processes that put into one thread at the same moment: `putter.ts url options name puts`. Says
 * "ready", waits for its input, and prints how many puts succeeded, or why one did not.
 */
import { open } from "../../../src/api/open.ts";

const [url = "", options = "{}", name = "", puts = "1"] = process.argv.slice(2);
const store = await open<{ log: readonly string[] }>(url, JSON.parse(options));
process.stdout.write("ready\n");
await new Promise((resolve) => process.stdin.once("data", resolve));

let done = 0;
let failed = "";
for (; done < Number(puts); done += 1) {
  const id = `${name}-${done}`;
  try {
    await store.thread("t").put({ id, update: { append: { log: [id] } } });
  } catch (error) {
    failed = `, then ${error}`;
    break;
  }
}
await store.close();
process.stdout.write(`${done}${failed}\n`, () => process.exit());
