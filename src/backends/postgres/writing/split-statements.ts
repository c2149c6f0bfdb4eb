/** A statement of 32 batches costs little more than its rows; what is beyond goes over up to four connections. */
const fullCount = 32;
const mostConnections = 4;

/** About 64 MB of values: both sides hold a statement in full, several times over, and the server takes no more than 1 GB. */
const fullLength = 64 * 2 ** 20;

/** The statements that go over one connection, one after the other. */
type StatementSequence<T> = readonly (readonly T[])[];

/**
 * Cuts a list into at most four nearly equal lanes, none needlessly short, and a lane into statements that are not too long.
 * Nearly always that is one lane of one statement.
 */
export function splitOverConnections<T extends { readonly length: number }>(
  list: readonly T[],
  most: number = fullLength,
): readonly StatementSequence<T>[] {
  if (list.length < 2) return list.length === 0 ? [] : [[list]];
  let total = 0;
  for (const { length } of list) total += length;
  const count = Math.min(mostConnections, list.length, Math.ceil(Math.max(list.length / fullCount, total / most)));
  return Array.from({ length: count }, (_, index) => {
    const part = list.slice((index * list.length) / count, ((index + 1) * list.length) / count);
    return total <= most ? [part] : cut(part, most);
  });
}

/** Statements of at most that length; what is longer by itself has one of its own. */
function cut<T extends { readonly length: number }>(list: readonly T[], most: number): StatementSequence<T> {
  const parts: T[][] = [];
  let room = -1;
  for (const entry of list) {
    if (entry.length > room) {
      parts.push([]);
      room = most;
    }
    (parts.at(-1) as T[]).push(entry);
    room -= entry.length;
  }
  return parts;
}
