import { open } from "../../../src/index.ts";
import { jobs } from "./jobs.ts";

/** Works on the store of its argument until it is killed. */
const [url] = process.argv.slice(2);
const store = await open(url as string, { fsync: "normal" });
jobs(store).worker({ concurrency: 4, poll: 50, maxRecoveries: 100 });
process.stdout.write("ready\n");
