/**
 * Returns keys that can stay where they are while others move, as many as possible: the longest sequence that both orders have. Of
 * equally long ones, the one that keeps the first key of the new order. Both orders have the same keys.
 */
export function stayingKeys(before: readonly string[], after: readonly string[]): ReadonlySet<string> {
  if (before.every((key, index) => key === after[index])) return new Set(after);
  const positions = new Map(before.map((key, index) => [key, index]));
  const order = after.map((key) => positions.get(key) as number);
  const first = fromTheFirst(order);
  const longest = longestAscending(order);
  return new Set((longest.length > first.length ? longest : first).map((index) => after[index] as string));
}

/** Returns the indexes of an ascending sequence that begins with the first number. */
function fromTheFirst(numbers: readonly number[]): number[] {
  const indexes: number[] = [];
  let last = -1;
  for (const [index, number] of numbers.entries()) {
    if (number < last) continue;
    indexes.push(index);
    last = number;
  }
  return indexes;
}

/** Returns the indexes of a longest ascending sequence, in n log n steps. */
function longestAscending(numbers: readonly number[]): number[] {
  /** By length, the index of the smallest number that ends a sequence of that length. */
  const ends: number[] = [];
  const previous: number[] = [];
  for (const [index, number] of numbers.entries()) {
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((numbers[ends[middle] as number] as number) < number) low = middle + 1;
      else high = middle;
    }
    previous.push(low === 0 ? -1 : (ends[low - 1] as number));
    ends[low] = index;
  }
  const indexes: number[] = [];
  for (let index = ends.at(-1) ?? -1; index >= 0; index = previous[index] as number) indexes.push(index);
  return indexes.reverse();
}
