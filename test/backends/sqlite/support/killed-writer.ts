import { sqlite } from "../../../../src/backends/sqlite/index.ts";
import { tail } from "../../support/tail-records.ts";

/** Commits one record and ends without closing, as a killed process does: `killed-writer.ts path value`. */
const [path = "", value = ""] = process.argv.slice(2);
const backend = await sqlite(path);
await backend.commit([{ puts: [{ key: tail(1), value }] }]);
process.stdout.write("committed\n", () => process.kill(process.pid, "SIGKILL"));
