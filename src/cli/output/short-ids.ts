/** The fewest characters of a shortened id: ids of later checkpoints would soon begin with fewer. */
const SHORTEST = 6;

/**
 * Returns a function that shortens ids to a beginning or an end that no other of the ids shares. Commands accept both; the
 * shorter of the two is chosen for all ids together, so that they line up.
 */
export function shortIds(ids: readonly string[]): (id: string) => string {
  const distinct = [...new Set(ids)];
  const longest = Math.max(SHORTEST, ...distinct.map((id) => id.length));
  const unique = (part: (id: string, length: number) => string): number => {
    for (let length = SHORTEST; length < longest; length += 1) {
      if (new Set(distinct.map((id) => part(id, length))).size === distinct.length) return length;
    }
    return longest;
  };
  const [beginning, end] = [unique(startOf), unique(endOf)];
  return (id) => (beginning < end ? startOf(id, beginning) : endOf(id, end));
}

function startOf(id: string, length: number): string {
  return id.slice(0, length);
}

function endOf(id: string, length: number): string {
  return id.slice(Math.max(0, id.length - length));
}
