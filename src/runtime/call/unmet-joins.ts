import type { Definition } from "../graph/definition.ts";
import type { Position } from "../position/graph-position.ts";
import type { UnmetJoin } from "../run/events.ts";

/** Returns the joins of a finished run that some nodes have reached, but not all. */
export function unmetJoinsOf({ joins }: Definition, { barriers }: Position): readonly UnmetJoin[] {
  return barriers.map(({ node, arrived }) => {
    const join = joins.find(
      ({ target, sources }) => target === node && arrived.every((name) => sources.includes(name)),
    );
    return { node, arrived, missing: join?.sources.filter((name) => !arrived.includes(name)) ?? [] };
  });
}
