/** Run by a test as a user without rights: reads, tries to put, reads again, and tells what happened. */

import { open } from "../../../src/api/open.ts";
import { ThreadmarkError } from "../../../src/errors.ts";

const store = await open(process.argv[2] ?? "");
const thread = store.thread("t");
const state = (await thread.latest())?.state;
const error: unknown = await thread.put({ state: {} }).catch((cause: unknown) => cause);
const after = (await thread.latest())?.state;
await store.close();
console.log(
  JSON.stringify({
    state,
    code: error instanceof ThreadmarkError ? error.code : String(error),
    cause: error instanceof Error && error.cause !== undefined,
    after,
  }),
);
