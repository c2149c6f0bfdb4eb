import fc from "fast-check";
import { expect, it } from "vitest";
import type { Backend, Batch } from "../../../../src/backend.ts";
import { memory } from "../../../../src/backends/memory/index.ts";
import { Committer } from "../../../../src/engine/commits/group-commit.ts";
import { forwarding } from "../../../../src/testing/index.ts";
import { recordText } from "../../../support/texts.ts";

/** Returns a batch that puts a record into the tail of each of the tapes. */
function batchOf(item: number, tapes: readonly number[]): Batch {
  const value = recordText(item);
  return { puts: tapes.map((tape) => ({ key: { table: "tail", lineage: tape, group: tape, item, part: 0 }, value })) };
}

const tapesOf = (batch: Batch): number[] => (batch.puts ?? []).map(({ key }) => ("group" in key ? key.group : 0));
const itemOf = (batch: Batch): number => (batch.puts ?? []).map(({ key }) => ("item" in key ? key.item : 0))[0] ?? 0;

/** Returns a backend in memory that tells the groups committed to it. */
function watched(): { readonly backend: Backend; readonly groups: (readonly Batch[])[] } {
  const inner = memory();
  const groups: (readonly Batch[])[] = [];
  const backend = forwarding(inner, {
    commit(batches) {
      groups.push(batches);
      return inner.commit(batches);
    },
  });
  return { backend, groups };
}

it("batches of one turn that touch different tapes go to the backend in one commit", async () => {
  const { backend, groups } = watched();
  const committer = new Committer(backend);
  const applied = await Promise.all([1, 2, 3].map((tape) => committer.commit(batchOf(0, [tape]))));
  expect(applied).toEqual([true, true, true]);
  expect(groups.map((group) => group.map(itemOf))).toEqual([[0, 0, 0]]);
});

it("batches of one turn that touch one tape go in commits of their own, in order", async () => {
  const { backend, groups } = watched();
  const committer = new Committer(backend);
  await Promise.all([0, 1, 2].map((item) => committer.commit(batchOf(item, [1]))));
  expect(groups.map((group) => group.map(itemOf))).toEqual([[0], [1], [2]]);
});

it("a batch of more than 64 MiB goes by itself", async () => {
  const { backend, groups } = watched();
  const committer = new Committer(backend);
  const key = { table: "tail", lineage: 2, group: 2, item: 0, part: 0 } as const;
  const heavy: Batch = { puts: [{ key, value: new Uint8Array(2 ** 26 + 1) }] };
  await Promise.all([batchOf(0, [1]), heavy, batchOf(0, [3])].map((batch) => committer.commit(batch)));
  expect(groups.map((group) => group.map(tapesOf))).toEqual([[[1], [3]], [[2]]]);
});

it("a commit that fails, or throws, fails its own batches and no later ones", async () => {
  const inner = memory();
  let calls = 0;
  const backend = forwarding(inner, {
    commit(batches) {
      calls += 1;
      if (calls === 1) return Promise.reject(new Error("rejected"));
      if (calls === 2) throw new Error("thrown");
      return inner.commit(batches);
    },
  });
  const committer = new Committer(backend);
  const outcomes = await Promise.allSettled([0, 1, 2].map((item) => committer.commit(batchOf(item, [1]))));
  expect(outcomes.map((outcome) => (outcome.status === "rejected" ? String(outcome.reason) : outcome.value))).toEqual([
    "Error: rejected",
    "Error: thrown",
    true,
  ]);
});

it("however commits overlap, each batch is committed once, in order on each tape, and no two under way share a tape", async () => {
  const tapes = fc.uniqueArray(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 3 });
  const turns = fc.array(fc.array(tapes, { maxLength: 8 }), { minLength: 1, maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), turns, fc.integer({ min: 1, max: 4 }), async (scheduler, submitted, most) => {
      const inner = memory();
      const underWay = new Set<readonly Batch[]>();
      const committed: Batch[] = [];
      const backend = forwarding(inner, {
        capabilities: { ...inner.capabilities, commitsAtOnce: most },
        async commit(batches) {
          underWay.add(batches);
          expect(underWay.size).toBeLessThanOrEqual(most);
          const touched = [...underWay].flat().flatMap(tapesOf);
          expect(new Set(touched).size).toBe(touched.length);
          committed.push(...batches);
          await scheduler.schedule(Promise.resolve(), "commit");
          underWay.delete(batches);
          return inner.commit(batches);
        },
      });
      const committer = new Committer(backend);
      const outcomes: Promise<boolean>[] = [];
      let item = 0;
      for (const turn of submitted) {
        for (const touched of turn) outcomes.push(committer.commit(batchOf(item++, touched)));
        await Promise.resolve();
      }
      await scheduler.waitFor(Promise.all(outcomes));
      expect(committed.map(itemOf).sort((a, b) => a - b)).toEqual(Array.from({ length: item }, (_, index) => index));
      for (const tape of [1, 2, 3, 4, 5, 6]) {
        const items = committed.filter((batch) => tapesOf(batch).includes(tape)).map(itemOf);
        expect(items).toEqual(items.toSorted((a, b) => a - b));
      }
    }),
  );
});
