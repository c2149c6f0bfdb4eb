/**
 * Run by the kill tests as a process of its own, to be killed: makes a backup or restores some, and tells each thread on its
 * standard output: `worker.ts url options work`. The work may name a moment at which the process kills itself.
 */
import { promises, writeSync } from "node:fs";
import { openBackend } from "../../../src/api/open-backend.ts";
import { type AnyOpenOptions, open } from "../../../src/index.ts";
import type { Scheme } from "../../../src/model/validation/store/open.ts";
import { forwarding } from "../../../src/testing/index.ts";

/** The work of such a process. `dies` names a commit by its number, or a call that gives the backup its name. */
export interface BackupWork {
  readonly backup?: string;
  readonly since?: string;
  readonly restore?: readonly string[];
  readonly dies?: { readonly at: number | "rename"; readonly moment: "before" | "during" | "after" };
}

function die(): never {
  process.kill(process.pid, "SIGKILL");
  throw new Error("The process outlived its own kill.");
}

const [url = "", options = "{}", text = "{}"] = process.argv.slice(2);
const { backup, since, restore, dies } = JSON.parse(text) as BackupWork;

/** Makes a call, and kills the process before, during or after it where that is its last one. */
async function fatal<T>(isFatal: boolean, call: () => Promise<T>): Promise<T> {
  if (isFatal && dies?.moment === "before") die();
  const called = call();
  if (isFatal && dies?.moment === "during") setImmediate(die);
  const result = await called;
  if (isFatal) die();
  return result;
}

const { rename } = promises;
promises.rename = (from, to) => fatal(dies?.at === "rename", () => rename(from, to));

const place = JSON.parse(options) as AnyOpenOptions;
const backend = await openBackend(url, url.slice(0, url.indexOf(":")) as Scheme, place as object);
let commits = 0;
const mortal = forwarding(backend, {
  commit: async (batches) => {
    commits += 1;
    return fatal(dies?.at === commits, () => backend.commit(batches));
  },
});

const store = await open(mortal);
const progress = (threads: number): void => void writeSync(1, `${threads}\n`);
writeSync(1, "0\n");
if (backup !== undefined) {
  const { cursor } = await store.backup(backup, { progress, ...(since !== undefined && { since }) });
  writeSync(1, `made ${cursor}\n`);
} else if (restore) {
  await store.restore(restore, { progress });
  writeSync(1, "restored\n");
}
// A process that ended by itself could not be killed: the kill may come late.
setInterval(() => {}, 60_000);
