/** Opens a store and commits once: one of several processes that start at the same moment. */
import { postgres } from "../../../../src/backends/postgres/index.ts";
import { creation } from "./records.ts";

const [url, tape, options = "{}"] = process.argv.slice(2) as [string, string, string?];
const backend = await postgres({ url, ...JSON.parse(options) });
process.send?.("ready");
process.once("message", () => {
  backend
    .commit([creation(Number(tape))])
    .then(([applied]) => backend.close().then(() => process.send?.({ applied })))
    .catch((error: unknown) => process.send?.({ error: String(error) }))
    .finally(() => process.disconnect());
});
