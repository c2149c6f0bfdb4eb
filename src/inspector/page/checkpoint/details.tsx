import type { ComponentChildren, JSX } from "preact";
import { bytesText } from "../../../display/quantities.ts";
import type { CheckpointFacts } from "../../api/answers.ts";
import type { Parameters } from "../api.ts";
import { Copy } from "../parts/copy.tsx";
import { addressOfRoute, type PageRoute } from "../route.ts";
import { StateTree } from "./tree.tsx";

/** Shows the rest of what is known of a checkpoint: its ids, where it comes from, what runs next, its bytes, its metadata. */
export function Details({
  facts,
  route,
  place,
}: {
  readonly facts: CheckpointFacts;
  readonly route: PageRoute;
  readonly place: Parameters;
}): JSX.Element {
  const { checkpoint, path, completed, barriers, next, size } = facts;
  const { id, parent, seq, source, run, workflow, stateVersion, createdAt } = checkpoint;
  const rows: readonly (readonly [string, ComponentChildren])[] = [
    [
      "id",
      <Copy text={id} label="Copy the id">
        <code>{id}</code>
      </Copy>,
    ],
    [
      "parent",
      parent === null ? (
        "none"
      ) : (
        <a href={addressOfRoute({ ...route, checkpoint: parent })}>
          <code>{parent}</code>
        </a>
      ),
    ],
    ["seq", String(seq)],
    ["source", source],
    [
      "run",
      run === null ? null : (
        <Copy text={run} label="Copy the run">
          <code>{run}</code>
        </Copy>
      ),
    ],
    ["workflow", workflow],
    ["state version", String(stateVersion)],
    ["committed", new Date(createdAt).toLocaleString()],
    [
      "bytes",
      `${bytesText(size.bytes)}${size.full ? ": the whole state" : ": what changed"}${size.inherited ? ", shared with the thread it was forked from" : ""}`,
    ],
    [
      "path",
      `${path.steps > path.last.length ? `… (${path.steps - path.last.length} earlier) → ` : ""}${path.last.join(" → ")}`,
    ],
    [
      "next",
      next
        .map(
          ({ node, task, arg }) => `${node}${task === null ? "" : ` [${task}]`}${arg === null ? "" : ` (${arg.text})`}`,
        )
        .join(", ") || "nothing",
    ],
    ["finished", completed.join(", ")],
    ["joins waiting", barriers.map(({ node, arrived }) => `${node} (arrived: ${arrived.join(", ")})`).join("; ")],
  ];
  return (
    <div class="panel-scroll">
      <dl class="facts">
        {rows
          .filter(([, value]) => value !== null && value !== "")
          .map(([name, value]) => (
            <>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </>
          ))}
      </dl>
      <h2>Metadata</h2>
      <StateTree key={JSON.stringify(place)} place={{ ...place, of: "metadata" }} label="Metadata" />
    </div>
  );
}
