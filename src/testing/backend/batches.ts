import assert from "node:assert/strict";
import type { Batch, Key, Value } from "../../backend.ts";
import type { BackendCase } from "./case.ts";
import { at, backendCase, fill, found, text, thread, values } from "./case.ts";

/** Several batches in a commit, and large ones: each is applied or refused by itself, and as a whole. */
export const batchCases: readonly BackendCase[] = [
  backendCase("a refused batch leaves the batches before and after it applied", async (backend) => {
    await fill(backend, [[at("meta", 2, 2), text("taken")]]);
    const insert = (group: number): { key: Key; value: Value } => ({ key: at("tail", group, 1), value: text(group) });
    const applied = await backend.commit([
      { checks: [{ key: at("meta", 1, 1), value: undefined }], inserts: [insert(1)] },
      { checks: [{ key: at("meta", 2, 2), value: undefined }], inserts: [insert(2)] },
      {
        inserts: [insert(3), { key: at("id", 3, 1, 2), value: text(3) }],
        puts: [{ key: thread("c"), value: text(3) }],
      },
      {
        inserts: [insert(4), { key: at("meta", 4, 4), value: text(4) }],
        checks: [{ key: thread("d"), value: text(4) }],
      },
      { deletes: [{ table: "tail", lineage: 5, group: 5 }], inserts: [insert(5)] },
    ]);
    assert.deepEqual(applied, [true, false, true, false, true]);
    const back = await values(backend, ...[1, 2, 3, 4, 5].map((group) => at("tail", group, 1)));
    assert.deepEqual(back, [text(1), undefined, text(3), undefined, text(5)]);
    assert.deepEqual(await values(backend, at("id", 3, 1, 2), thread("c"), at("meta", 4, 4)), [
      text(3),
      text(3),
      undefined,
    ]);
  }),

  backendCase(
    "of the steps of many threads, those with another record or a taken key are refused alone",
    async (backend) => {
      const groups = Array.from({ length: 20 }, (_, index) => index + 1);
      await fill(backend, [
        ...groups.filter((group) => group !== 3).map((group) => [at("meta", group, group), text(group)] as const),
        [at("tail", 7, 1), text("taken")],
      ]);
      const steps = groups.map((group) => ({
        checks: [{ key: at("meta", group, group), value: text(group === 5 ? "another" : group) }],
        inserts: [{ key: at("tail", group, 1), value: text(group) }],
      }));
      const refused = [3, 5, 7];
      assert.deepEqual(
        await backend.commit(steps),
        groups.map((group) => !refused.includes(group)),
      );
      assert.deepEqual(
        await values(backend, ...groups.map((group) => at("tail", group, 1))),
        groups.map((group) => (group === 7 ? text("taken") : refused.includes(group) ? undefined : text(group))),
      );
    },
  ),

  backendCase(
    "of batches with records of two tables, those with another record or a taken key are refused alone and whole",
    async (backend) => {
      const groups = Array.from({ length: 20 }, (_, index) => index + 1);
      await fill(backend, [
        ...groups.filter((group) => group !== 3).map((group) => [at("meta", group, group), text(group)] as const),
        [at("tail", 7, 1), text("taken")],
        [at("write", 9, 1, 2), text("taken")],
      ]);
      const keysOf = (group: number): readonly Key[] => [
        at("write", group, 1, 1),
        at("write", group, 1, 2),
        at("tail", group, 1),
      ];
      const batches = groups.map((group) => ({
        checks: [{ key: at("meta", group, group), value: text(group === 5 ? "another" : group) }],
        inserts: keysOf(group).map((key) => ({ key, value: text(group) })),
      }));
      const refused = [3, 5, 7, 9];
      assert.deepEqual(
        await backend.commit(batches),
        groups.map((group) => !refused.includes(group)),
      );
      for (const batch of batches) assert.deepEqual(await backend.commit([batch]), [false]);
      const taken: { readonly [group: number]: readonly unknown[] } = {
        7: [undefined, undefined, text("taken")],
        9: [undefined, text("taken"), undefined],
      };
      for (const group of groups) {
        const whole = keysOf(group).map(() => (refused.includes(group) ? undefined : text(group)));
        assert.deepEqual(await values(backend, ...keysOf(group)), taken[group] ?? whole);
      }
      const free = groups.filter((group) => group === 3 || group === 5);
      await fill(
        backend,
        free.map((group) => [at("meta", group, group), text(group === 5 ? "another" : group)] as const),
      );
      for (const group of free) assert.deepEqual(await backend.commit([batches[group - 1] as Batch]), [true]);
    },
  ),

  backendCase(
    "what became of each batch is told in the order of the batches, whatever their groups",
    async (backend) => {
      const groups = [3, 1, 4, 2];
      await fill(
        backend,
        groups.map((group) => [at("meta", group, group), text(group === 4 ? "another" : "meta")] as const),
      );
      const steps = groups.map((group) => ({
        checks: [{ key: at("meta", group, group), value: text("meta") }],
        inserts: [{ key: at("tail", group, 1), value: text(group) }],
      }));
      assert.deepEqual(await backend.commit(steps), [true, true, false, true]);
      assert.deepEqual(await backend.commit([...steps].reverse()), [false, false, false, false]);
      const back = await values(backend, ...groups.map((group) => at("tail", group, 1)));
      assert.deepEqual(back, [text(3), text(1), undefined, text(2)]);
    },
  ),

  backendCase("tapes of two lineages never share records: the second is refused, or kept apart", async (backend) => {
    const keysOf = (lineage: number): readonly Key[] => [
      { table: "meta", lineage, group: lineage, item: 9, part: 0 },
      { table: "tail", lineage, group: 9, item: 1, part: 0 },
      { table: "write", lineage, group: 9, item: 1, part: 1 },
    ];
    const insertOf = (lineage: number, keys = keysOf(lineage)): Batch => ({
      inserts: keys.map((key) => ({ key, value: text(lineage) })),
    });
    assert.deepEqual(await backend.commit([insertOf(1)]), [true]);
    for (const keys of [keysOf(2), keysOf(2).slice(0, 1)]) {
      const [applied] = await backend.commit([insertOf(2, keys)]);
      // Records of a tape without a meta record do not matter.
      const [meta, ...others] = await values(backend, ...keys);
      assert.equal(meta, applied ? text(2) : undefined);
      if (applied) for (const value of others) assert.equal(value, text(2));
      assert.deepEqual(await values(backend, ...keysOf(1)), [text(1), text(1), text(1)]);
      const deletes = [...keys, { table: "tail", lineage: 2, group: 9 } as const];
      if (applied) assert.deepEqual(await backend.commit([{ deletes }]), [true]);
      assert.deepEqual(await values(backend, ...keysOf(1)), [text(1), text(1), text(1)]);
    }
    const [meta, ...others] = keysOf(1) as [Key, ...Key[]];
    assert.deepEqual(await backend.commit([{ deletes: [meta, ...others] }]), [true]);
    assert.deepEqual(await backend.commit([insertOf(2)]), [true], "the number is free again");
    assert.deepEqual(await values(backend, ...keysOf(2), ...keysOf(1).slice(0, 1)), [
      text(2),
      text(2),
      text(2),
      undefined,
    ]);
  }),

  backendCase("a batch of ten thousand records is applied as a whole", async (backend) => {
    const inserts = Array.from({ length: 10_000 }, (_, item) => ({ key: at("tail", 1, item), value: text(item) }));
    await fill(backend, [[at("tail", 1, 9_999), text("taken")]]);
    assert.deepEqual(await backend.commit([{ inserts }]), [false]);
    assert.equal((await found(backend, { scan: { table: "tail", lineage: 1, group: 1 } })).length, 1);
    assert.deepEqual(await backend.commit([{ inserts: inserts.slice(0, -1) }]), [true]);
    assert.equal((await found(backend, { scan: { table: "tail", lineage: 1, group: 1 } })).length, 10_000);
  }),
];
