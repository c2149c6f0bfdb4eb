/**
 * Assigns checkpoints to lanes, as history viewers do: newest first, each in the lane that leads to it, or in a new
 * lane if none does. Each row gets the lanes that enter from above and those that leave below.
 *
 * rows: [{ id, parent }] → [{ lane, above: [[from, to], …], below: [lane, …] }], and `width`, the number of lanes.
 */
export function placeInLanes(rows) {
  /** The id that each lane leads to; null for a free lane. */
  let leads = [];
  let width = 1;
  const places = rows.map(({ id, parent }) => {
    const children = leads.flatMap((target, lane) => (target === id ? [lane] : []));
    const free = leads.indexOf(null);
    const lane = children[0] ?? (free < 0 ? leads.length : free);
    const above = leads.flatMap((target, from) => (target === null ? [] : [[from, target === id ? lane : from]]));
    leads = leads.map((target) => (target === id ? null : target));
    leads[lane] = parent;
    while (leads.length > 0 && leads.at(-1) === null) leads.pop();
    const below = leads.flatMap((target, from) => (target === null ? [] : [from]));
    width = Math.max(width, lane + 1, leads.length);
    return { lane, above, below };
  });
  return { places, width };
}
