/** Where a checkpoint is drawn in a history with branches. */
export interface LanePlace {
  readonly lane: number;
  /** The lanes that enter from above, each with the lane it leads to. */
  readonly above: readonly (readonly [from: number, to: number])[];
  /** The lanes that leave below. */
  readonly below: readonly number[];
}

/**
 * Assigns checkpoints to lanes, as history viewers do: newest first, each in the lane that leads to it, or in a new lane if
 * none does. `width` is the number of lanes.
 */
export function placeInLanes(rows: readonly { readonly id: string; readonly parent: string | null }[]): {
  readonly places: readonly LanePlace[];
  readonly width: number;
} {
  /** The id that each lane leads to; null for a free lane. */
  let leads: (string | null)[] = [];
  let width = 1;
  const places = rows.map(({ id, parent }) => {
    const children = leads.flatMap((target, lane) => (target === id ? [lane] : []));
    const free = leads.indexOf(null);
    const lane = children[0] ?? (free < 0 ? leads.length : free);
    const above = leads.flatMap((target, from) =>
      target === null ? [] : [[from, target === id ? lane : from] as const],
    );
    leads = leads.map((target) => (target === id ? null : target));
    leads[lane] = parent;
    while (leads.length > 0 && leads.at(-1) === null) leads.pop();
    const below = leads.flatMap((target, from) => (target === null ? [] : [from]));
    width = Math.max(width, lane + 1, leads.length);
    return { lane, above, below };
  });
  return { places, width };
}
