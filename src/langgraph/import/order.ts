import type { SavedRow } from "./saver-database.ts";

/** A checkpoint in the order of an import. */
export interface OrderedRow extends SavedRow {
  /** True if the parent comes before this row. Else the parent is missing, or the row is its own ancestor. */
  readonly rooted: boolean;
}

/** Returns a checkpoint's key among those of its thread. */
export function rowKey({ namespace, id }: Pick<SavedRow, "namespace" | "id">): string {
  return JSON.stringify([namespace, id]);
}

/**
 * Sorts the checkpoints of a thread by their ids, which are times, but each after its parent. So the checkpoint that is
 * committed last here is the one that was committed last there.
 */
export function parentsFirst(rows: readonly SavedRow[]): readonly OrderedRow[] {
  const sorted = [...rows].sort((left, right) => (left.id < right.id ? -1 : left.id > right.id ? 1 : 0));
  const byKey = new Map(sorted.map((row) => [rowKey(row), row]));
  const placed = new Set<string>();
  const ordered: OrderedRow[] = [];
  for (const row of sorted) {
    const chain: SavedRow[] = [];
    const above = new Set<string>();
    let next: SavedRow | undefined = row;
    while (next !== undefined && !placed.has(rowKey(next)) && !above.has(rowKey(next))) {
      chain.push(next);
      above.add(rowKey(next));
      next = next.parent === null ? undefined : byKey.get(rowKey({ namespace: next.namespace, id: next.parent }));
    }
    for (const link of chain.reverse()) {
      const { namespace, parent } = link;
      ordered.push({ ...link, rooted: parent !== null && placed.has(rowKey({ namespace, id: parent })) });
      placed.add(rowKey(link));
    }
  }
  return ordered;
}
