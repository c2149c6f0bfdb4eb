import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import type { Backend, FoundEntry, Read, TapeRecords, Value } from "../../src/backend.ts";
import { memory } from "../../src/backends/memory/index.ts";
import { open } from "../../src/index.ts";
import { forwarding } from "../../src/testing/index.ts";

/** Returns a backend that gives the newest records of a tape with each entry that is found, as distant backends do. */
function givingRecords(backend: Backend): Backend {
  const recordsOf = async ({ lineage, tape }: FoundEntry): Promise<TapeRecords> => {
    const [meta, tail] = await backend.read([
      { get: { table: "meta", lineage, group: lineage, item: tape, part: 0 } },
      { scan: { table: "tail", lineage, group: tape }, reverse: true, limit: 2 },
    ]);
    return { meta: meta as Value | undefined, tail: tail as TapeRecords["tail"] };
  };
  const withRecords = async (read: Read, answer: unknown): Promise<unknown> => {
    if (!("find" in read) || !read.find.tapes) return answer;
    return Promise.all(
      (answer as readonly FoundEntry[]).map(async (entry) => ({ ...entry, records: await recordsOf(entry) })),
    );
  };
  return forwarding(backend, {
    read: async (reads) => {
      const answers = await backend.read(reads);
      return (await Promise.all(reads.map((read, index) => withRecords(read, answers[index])))) as never;
    },
  });
}

test("records that come with entries of the index are decrypted, also where their keys are not known yet", async () => {
  const encryption = { current: "one", keys: { one: randomBytes(32) } };
  const place = givingRecords(forwarding(memory(), { close: async () => {} }));
  const writer = await open(place, { encryption });
  for (const id of ["a", "b"]) await writer.thread(id).put({ state: { id }, workflow: "w" });
  for (const store of [writer, await open(place, { encryption })]) {
    const found: string[] = [];
    for await (const { id } of store.threads({ order: "updated", workflow: "w" })) found.push(id);
    expect(found.sort()).toEqual(["a", "b"]);
  }
});
