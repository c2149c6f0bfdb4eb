import { html } from "../dom.js";
import { StateTree } from "./tree.js";

const CONTROL = { [-1]: "error", [-2]: "scheduled", [-3]: "interrupt", [-4]: "answer" };

/** Shows the writes against the checkpoint, by task. */
export function Writes({ facts, place }) {
  const tasks = new Map();
  for (const [position, write] of facts.writes.entries()) {
    tasks.set(write.task, [...(tasks.get(write.task) ?? []), { ...write, position }]);
  }
  if (tasks.size === 0) return html`<p class="empty">No task has written anything against this checkpoint.</p>`;
  return html`
    ${[...tasks].map(
      ([task, writes]) => html`
        <section class="task" aria-label=${`Task ${task}`}>
          <h2>${writes[0].node ?? "task"} <code>${task}</code></h2>
          ${writes.map(
            ({ index, channel, position }) => html`
              <div class="write">
                <span class=${`tag ${index === -1 ? "failed" : ""}`}>${CONTROL[index] ?? index}</span>
                <b>${channel}</b>
                <${StateTree} key=${`${place.checkpoint}/${position}`} place=${{ ...place, of: "writes" }} at=${[position, "value"]} />
              </div>
            `,
          )}
        </section>
      `,
    )}
  `;
}
