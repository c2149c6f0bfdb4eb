import { file } from "../../../../src/backends/file/index.ts";
import { recordText } from "../../../support/texts.ts";
import { tail } from "../../support/tail-records.ts";

/**
 * A process that writes rounds: in each, one batch that changes a record of two lineages and the directory, and then one
 * batch of two records of a lineage. Now and then it compacts. It ends after so many rounds.
 */
const [directory = "", rounds = "100"] = process.argv.slice(2);
const backend = await file(directory, { fsync: "normal" });
for (let round = 1; round <= Number(rounds); round++) {
  const value = recordText({ round, filler: "x".repeat((round % 7) * 100) });
  await backend.commit([
    { puts: [tail(1, 1), tail(1, 2), { table: "directory", id: "thread" } as const].map((key) => ({ key, value })) },
  ]);
  await backend.commit([
    { puts: [tail(2, 1), tail(3, 1)].map((key) => ({ key, value })), deletes: [tail(4, 1)] },
    { puts: [{ key: tail(2, 2), value }] },
  ]);
  if (round % 40 === 0) await backend.compact();
}
await backend.close();
process.stdout.write("done\n");
