import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { CheckpointFacts, WriteFacts } from "../../api/answers.ts";
import type { Parameters } from "../api.ts";
import { Leaf } from "../parts/leaf.tsx";
import { StateTree } from "./tree.tsx";

const CONTROL: Readonly<Record<number, string>> = {
  [-1]: "error",
  [-2]: "scheduled",
  [-3]: "question",
  [-4]: "answer",
};

/** Shows the writes against the checkpoint, by task. */
export function Writes({ facts, place }: { readonly facts: CheckpointFacts; readonly place: Parameters }): JSX.Element {
  const [internals, setInternals] = useState(false);
  const tasks = new Map<string, (WriteFacts & { position: number })[]>();
  for (const [position, write] of facts.writes.entries()) {
    tasks.set(write.task, [...(tasks.get(write.task) ?? []), { ...write, position }]);
  }
  const hidden = facts.writes.filter((write) => write.internal).length;
  if (tasks.size === 0) return <p class="empty">No task has written anything against this checkpoint.</p>;
  return (
    <div class="panel-scroll">
      {[...tasks].map(([task, writes]) => (
        <section key={task} class="task" aria-label={`Task ${task}`}>
          <h2>
            {writes[0]!.node ?? "task"} <code>{task}</code>
          </h2>
          {writes
            .filter((write) => internals || !write.internal)
            .map(({ index, channel, position, value }) => (
              <div key={position} class="write">
                <span class={`tag ${index === -1 ? "failed" : ""}`}>{CONTROL[index] ?? index}</span>
                <b>{channel}</b>
                {value.parts === 0 && value.length === undefined ? (
                  <span class="content">
                    <Leaf node={value} />
                  </span>
                ) : (
                  <StateTree
                    place={{ ...place, of: "writes" }}
                    at={[position, "value"]}
                    label={`${channel} of ${task}`}
                  />
                )}
              </div>
            ))}
        </section>
      ))}
      {hidden > 0 && (
        <button type="button" class="fold" aria-expanded={internals} onClick={() => setInternals(!internals)}>
          {internals ? "▾" : "▸"} internals ({hidden})
        </button>
      )}
    </div>
  );
}
