/**
 * Run by the kill tests as a process of its own: opens a store, does some upkeep, and kills itself just before, during or after a
 * commit: `dying.ts url options work commit moment time`. Without that commit, it tells "done".
 */
import { openBackend } from "../../../src/api/open-backend.ts";
import { type AnyOpenOptions, open } from "../../../src/index.ts";
import type { Scheme } from "../../../src/model/validation/store/open.ts";
import { forwarding } from "../../../src/testing/index.ts";
import { storeOptions, type Work, works } from "./upkeep-works.ts";

const [url = "", options = "{}", work = "", fatal = "0", moment = "before", time = "0"] = process.argv.slice(2);
const place = JSON.parse(options) as AnyOpenOptions;
const scheme = url.slice(0, url.indexOf(":"));
const backend = await openBackend(url, scheme as Scheme, place as object);
let commits = 0;

function die(): never {
  process.kill(process.pid, "SIGKILL");
  throw new Error("The process outlived its own kill.");
}

const dying = forwarding(backend, {
  commit: async (batches) => {
    commits += 1;
    const isFatal = commits === Number(fatal);
    if (isFatal && moment === "before") die();
    const committed = backend.commit(batches);
    // A turn later the commit of a server is on its way, and its answer is not.
    if (isFatal && moment === "during") setImmediate(die);
    const applied = await committed;
    if (isFatal) die();
    return applied;
  },
});
const { run } = works[work as Work];
const store = await open<Record<string, unknown>>(dying, storeOptions(work as Work, Number(time)));
await run(store);
await store.close();
console.log("done");
