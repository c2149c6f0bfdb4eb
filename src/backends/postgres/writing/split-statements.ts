/** A statement of 32 batches costs little more than its rows; further batches use up to four connections. */
const fullCount = 32;
const mostConnections = 4;

/**
 * About 64 MB of values: both sides hold a statement in full, several times over, and the server takes at most 1 GB.
 */
const fullLength = 64 * 2 ** 20;

/** The statements that use one connection, one after the other. */
type StatementSequence<T> = readonly (readonly T[])[];

/**
 * Splits a list into nearly equal sequences for at most four connections, none needlessly short, and each sequence into
 * statements that are not too long. The result is nearly always one sequence of one statement.
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

/** Splits a list into statements of at most that length; a longer entry has a statement of its own. */
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
