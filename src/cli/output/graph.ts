/** A checkpoint as the graph needs it. */
export interface GraphNode {
  readonly id: string;
  readonly parent: string | null;
}

/** The lines of a graph that belong to one checkpoint. */
export interface GraphRow {
  /** Drawn in front of the checkpoint itself. */
  readonly graph: string;
  /** Drawn on a line of its own, above the checkpoint: branches that join here. */
  readonly joins: string | undefined;
}

/**
 * Draws checkpoints and their parents as lanes of characters, newest first, as `git log --graph` does. A lane goes down from a
 * checkpoint to its parent; branches join at the checkpoint they began from.
 */
export function drawGraph(nodes: readonly GraphNode[]): GraphRow[] {
  /** The checkpoint that each lane waits for; undefined for a free lane. */
  const lanes: (string | undefined)[] = [];
  const present = new Set(nodes.map(({ id }) => id));
  return nodes.map(({ id, parent }) => {
    const waiting = lanes.flatMap((wanted, lane) => (wanted === id ? [lane] : []));
    const joins = waiting.length > 1 ? joinLine(lanes, waiting) : undefined;
    const lane = waiting[0] ?? freeLane(lanes);
    for (const other of waiting.slice(1)) lanes[other] = undefined;
    const isHead = waiting.length === 0;
    lanes[lane] = id;
    const graph = lanes.map((wanted, place) =>
      place === lane ? (isHead ? "●" : "○") : wanted === undefined ? " " : "│",
    );
    lanes[lane] = parent !== null && present.has(parent) ? parent : undefined;
    while (lanes.length > 0 && lanes.at(-1) === undefined) lanes.pop();
    return { graph: graph.join(" ").trimEnd(), joins };
  });
}

function freeLane(lanes: readonly (string | undefined)[]): number {
  const free = lanes.indexOf(undefined);
  return free < 0 ? lanes.length : free;
}

/** Returns the line that leads branches into the first of the lanes that wait for the same checkpoint. */
function joinLine(lanes: readonly (string | undefined)[], waiting: readonly number[]): string {
  const first = waiting[0] as number;
  const last = waiting.at(-1) as number;
  let line = "";
  for (let lane = 0; lane < lanes.length; lane += 1) {
    const inside = lane > first && lane <= last;
    const before = inside ? "─" : " ";
    const isJoining = waiting.includes(lane);
    const character =
      lane === first
        ? "├"
        : isJoining
          ? lane === last
            ? "╯"
            : "┴"
          : lanes[lane] === undefined
            ? inside
              ? "─"
              : " "
            : inside
              ? "┼"
              : "│";
    line += lane === 0 ? character : before + character;
  }
  return line.trimEnd();
}
