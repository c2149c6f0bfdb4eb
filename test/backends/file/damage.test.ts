import { expect, test } from "vitest";
import type { Backend } from "../../../src/backend.ts";
import { inspect, journals, lastBatchAt, openAt } from "./support/damage.ts";
import { checkFlips, checkScars } from "./support/damage-checks.ts";
import { onSpecimens } from "./support/on-specimens.ts";

onSpecimens((specimen) => {
  test.each(journals)(
    "%s cut anywhere in its last batch: the batch is gone as a whole, the next commit works",
    async (path) => {
      const whole = specimen().disk.contentOf(path);
      const start = lastBatchAt(whole);
      for (let length = start; length <= whole.length; length++) {
        const when = `cut at ${length}`;
        const others = journals.map((one) => [one, specimen().disk.contentOf(one)] as const);
        specimen().disk.overwrite(path, whole.subarray(0, length));
        const backend = await openAt(specimen().disk);
        await expectCut(backend, path, length === whole.length, when);
        expect((await backend.verify()).length, when).toBe(length > start && length < whole.length ? 1 : 0);
        await writeToAll(backend);
        expect(await backend.verify(), when).toEqual([]);
        await expectCut(backend, path, length === whole.length, `${when}, written to`);
        await backend.close();
        for (const [one, content] of others) specimen().disk.overwrite(one, content);
      }
    },
  );

  async function expectCut(backend: Backend, path: string, isWhole: boolean, when: string): Promise<void> {
    const { corrupt, isNow, isBefore } = await inspect(backend, specimen());
    expect(corrupt, when).toEqual([]);
    for (const one of journals) {
      expect(isNow.get(one), `${when}, ${one}`).toBe(one !== path || isWhole);
      expect(isBefore.get(one), `${when}, ${one}`).toBe(one === path && !isWhole);
    }
  }

  async function writeToAll(backend: Backend): Promise<void> {
    const mark = (lineage: number) => ({ table: "mark", lineage, group: lineage, item: 1, part: 0 }) as const;
    const puts = [mark(1), mark(2), { table: "directory", id: "new" } as const].map((key) => ({
      key,
      value: "1j00000000[]",
    }));
    expect(await backend.commit([{ puts }])).toEqual([true]);
  }

  test.each(journals)(
    "%s with a bit flipped: the last batch is cut, or one record is CORRUPT; all else reads",
    (path) => checkFlips(specimen(), path, 11),
  );

  test("scars of any length: CORRUPT or the right value, never a wrong one", () => checkScars(specimen(), 150, 1));
});
