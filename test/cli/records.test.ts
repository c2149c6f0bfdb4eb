import { join } from "node:path";
import { expect, test } from "vitest";
import { folderOfTest } from "../support/folders-of-tests.ts";
import { records, storeWith, threadmark, threeSteps } from "./run.ts";

/** The names in a record, sorted: programs are written against them. */
const info =
  "createdAt id label metadata namespace node parent pending run seq source stateVersion step thread waiting workflow";
const whole = `barriers completed ${info} interrupts next path state`;

test("the names in the records of --json are those that programs know", async () => {
  const url = await storeWith(threeSteps);
  const bundle = join(folderOfTest(), "all.bundle");
  await threadmark(["export", url, "--output", bundle]);
  const namesOf = async (...parameters: string[]): Promise<string> => {
    const { out } = await threadmark([...parameters, url, "--json"]);
    return Object.keys(records(out)[0] ?? {})
      .sort()
      .join(" ");
  };
  const sorted = (names: string): string => names.split(" ").sort().join(" ");
  expect({
    threads: await namesOf("threads"),
    history: await namesOf("history", "user-42"),
    states: await namesOf("history", "user-42", "--states"),
    show: await namesOf("show", "user-42"),
    diff: await namesOf("diff", "user-42"),
    fork: await namesOf("fork", "user-42", "--into", "f"),
    set: await namesOf("set", "f", "total", "1"),
    copy: await namesOf("copy", "f", "g"),
    prune: await namesOf("prune", "g", "--keep-last", "1", "--yes"),
    delete: await namesOf("delete", "g", "--yes"),
    lease: await namesOf("lease", "user-42"),
    import: await namesOf("import", bundle),
    stats: await namesOf("stats"),
    verify: await namesOf("verify"),
    compact: await namesOf("compact"),
  }).toEqual({
    threads: "attributes checkpoints createdAt cursor forkedFrom head id status updatedAt workflow",
    history: info,
    states: sorted(whole),
    show: sorted(`${whole} size writes`),
    diff: "after before kind path",
    fork: "head thread",
    set: info,
    copy: "checkpoints thread",
    prune: "bytesReclaimed deleted dryRun thread",
    delete: "deleted thread",
    lease: "broken held thread",
    import: "checkpoints imported unchanged",
    stats: "backup bytes checkpoints encryption stateVersions sweep threads",
    verify: "faults ok",
    compact: "after before",
  });
});
