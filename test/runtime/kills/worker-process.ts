import { open } from "../../../src/index.ts";
import { jobs } from "./jobs.ts";

/** Works on the store of its arguments, a url and options, until it is killed. */
const [url, options] = process.argv.slice(2);
const store = await open(url as string, JSON.parse(options as string) as object);
jobs(store).worker({ concurrency: 4, maxRecoveries: 100 });
process.stdout.write("ready\n");
