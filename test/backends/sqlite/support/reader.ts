import { DatabaseSync } from "node:sqlite";

/** Holds a read transaction on a database, `reader.ts path`: says "reading", and ends it when its input ends. */
const [path = ""] = process.argv.slice(2);
const database = new DatabaseSync(path, { readOnly: true });
database.exec("BEGIN");
database.prepare("SELECT count(*) FROM sqlite_schema").get();
database.prepare("SELECT count(*) FROM tail").get();
process.stdout.write("reading\n");
await new Promise((resolve) => process.stdin.once("end", resolve).resume());
database.exec("COMMIT");
database.close();
