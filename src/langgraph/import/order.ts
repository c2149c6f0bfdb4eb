import type { SourceRow } from "./source.ts";

/** A checkpoint in the order in which they are committed. */
export interface OrderedRow extends SourceRow {
  /** Whether the parent comes before it. If not, it is gone, or the row is its own ancestor. */
  readonly rooted: boolean;
}

/** A checkpoint's key among those of a thread. */
export function rowKey({ namespace, id }: Pick<SourceRow, "namespace" | "id">): string {
  return JSON.stringify([namespace, id]);
}

/**
 * The checkpoints of a thread in the order of their ids, which are times, and each after its parent. So the one that is
 * committed last is the one that was.
 */
export function parentsFirst(rows: readonly SourceRow[]): readonly OrderedRow[] {
  const sorted = [...rows].sort((left, right) => (left.id < right.id ? -1 : left.id > right.id ? 1 : 0));
  const byKey = new Map(sorted.map((row) => [rowKey(row), row]));
  const placed = new Set<string>();
  const ordered: OrderedRow[] = [];
  for (const row of sorted) {
    const chain: SourceRow[] = [];
    const above = new Set<string>();
    let next: SourceRow | undefined = row;
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
