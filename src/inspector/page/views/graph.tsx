import type { JSX } from "preact";
import { durationText } from "../../../display/quantities.ts";
import { END, START } from "../../../model/interface/topology.ts";
import type { GraphFacts } from "../../api/answers.ts";
import { useLive } from "../live.ts";
import { type PageRoute, replaceRoute } from "../route.ts";
import { layOut } from "./graph-layout.ts";

const NAMES: Readonly<Record<string, string>> = { [START]: "start", [END]: "end" };

/** A wide graph is drawn smaller where there is no room for it, down to this part of its size. */
const SMALLEST = 0.75;

const DRAWN_FROM: Readonly<Record<GraphFacts["drawnFrom"], string>> = {
  compiled: "Drawn from the compiled graph.",
  app: "Drawn from the compiled graph of the application.",
  history: "Drawn from the history.",
};

/** Shows the workflow as a picture: which nodes ran, how often and for how long, and which run next. */
export function GraphView({
  route,
  head,
}: {
  readonly route: PageRoute;
  readonly head: string | undefined;
}): JSX.Element {
  const { thread, namespace } = route;
  const { value, error } = useLive<GraphFacts>("graph", { thread, namespace });
  if (error !== undefined) return <p class="failure banner">{error.message}</p>;
  if (value === undefined || head === undefined) return <p class="skeleton" />;
  const { nodes, edges, width, height } = layOut(value);
  const facts = new Map(value.nodes.map((node) => [node.name, node]));
  const pick = (name: string): void =>
    replaceRoute({ ...route, node: route.node === name ? undefined : name, shape: "steps" });
  return (
    <div class="graph-view" tabIndex={0} role="region" aria-label="Graph of the thread">
      <svg
        viewBox={`0 0 ${width} ${height}`}
        width={width}
        height={height}
        style={{ maxWidth: `max(100%, ${Math.round(width * SMALLEST)}px)`, height: "auto" }}
        aria-label={`${value.nodes.length} nodes`}
        role="group"
      >
        <defs>
          <marker
            id="arrow"
            viewBox="0 0 8 8"
            refX="7"
            refY="4"
            markerWidth="7"
            markerHeight="7"
            orient="auto-start-reverse"
          >
            <path d="M0 0L8 4L0 8Z" class="arrow" />
          </marker>
        </defs>
        {edges.map((edge) => (
          <g key={`${edge.from} ${edge.to}`}>
            <path
              class={`edge ${edge.sometimes ? "sometimes" : ""} ${edge.count === 0 ? "untaken" : ""}`}
              d={edge.path}
              marker-end="url(#arrow)"
            />
            {edge.count > 1 && (
              <text class="edge-count" x={edge.x} y={edge.y}>
                {edge.count}
              </text>
            )}
          </g>
        ))}
        {nodes.map((node) => {
          const known = facts.get(node.name);
          const isCurrent = value.current.includes(node.name);
          const isEnd = NAMES[node.name] !== undefined;
          const about =
            known === undefined
              ? ""
              : [
                  known.count > 0 ? `${known.count}×` : !isCurrent && "not yet run",
                  known.median !== null && durationText(known.median),
                  isCurrent && "next",
                ]
                  .filter(Boolean)
                  .join(" · ");
          return (
            <g
              key={node.name}
              class={`graph-node ${isCurrent ? "current" : ""} ${value.last === node.name ? "last" : ""} ${isEnd ? "end" : ""} ${known?.count === 0 && !isCurrent ? "unseen" : ""}`}
              transform={`translate(${node.x} ${node.y})`}
              {...(isEnd
                ? {}
                : {
                    role: "button" as const,
                    tabIndex: 0,
                    onClick: () => pick(node.name),
                    onKeyDown: (event: KeyboardEvent) => {
                      if (event.key === "Enter" || event.key === " ") {
                        event.preventDefault();
                        pick(node.name);
                      }
                    },
                  })}
            >
              <rect width={node.width} height={node.height} rx={isEnd ? node.height / 2 : 8} />
              <text class="graph-name" x={node.width / 2} y={isEnd ? node.height / 2 + 4 : 19}>
                {cut(NAMES[node.name] ?? node.name)}
              </text>
              {!isEnd && (
                <text class="graph-about" x={node.width / 2} y={35}>
                  {about}
                </text>
              )}
            </g>
          );
        })}
      </svg>
      <p class="about">
        {DRAWN_FROM[value.drawnFrom]} {value.edges.some(({ sometimes }) => sometimes) && "Dashed lines are branches. "}
        Click a node to see only its steps.
      </p>
    </div>
  );
}

function cut(name: string): string {
  return name.length > 20 ? `${name.slice(0, 19)}…` : name;
}
