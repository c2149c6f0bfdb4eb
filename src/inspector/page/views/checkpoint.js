import { CheckpointActions, InterruptCard } from "../actions/checkpoint.js";
import { addressOf } from "../api.js";
import { html } from "../dom.js";
import { refresh, useLiveAnswers } from "../live.js";
import { bytesText, timeText } from "../parts/format.js";
import { replaceRoute, routeAddress } from "../route.js";
import { Changes } from "./changes.js";
import { StateTree } from "./tree.js";
import { Writes } from "./writes.js";

const TABS = [
  ["state", "State"],
  ["changes", "Changes"],
  ["writes", "Writes"],
  ["details", "Details"],
];

/** Shows a checkpoint: the chosen one, or the head as it moves. */
export function CheckpointPane({ route, readOnly, timeline, notify }) {
  const { thread, namespace } = route;
  const isCurrent = timeline.thread === thread && JSON.stringify(timeline.namespace) === JSON.stringify(namespace);
  const id = route.checkpoint ?? (isCurrent ? timeline.head : undefined);
  // Answers and writes arrive after the checkpoint was committed.
  const [{ value: facts, error } = {}] = useLiveAnswers(
    id === undefined ? [] : [addressOf("checkpoint", { thread, namespace, checkpoint: id })],
  );

  if (error !== undefined)
    return html`<section class="pane detail" aria-label="Checkpoint"><p class="failure banner" role="alert">${error.message}</p></section>`;
  if (facts === undefined || facts.checkpoint.id !== id)
    return html`<section class="pane detail" aria-label="Checkpoint"><p class="empty">…</p></section>`;
  const { checkpoint, size } = facts;
  const done = (text) => {
    notify(text);
    refresh();
  };
  const pick = (tab) => replaceRoute({ ...route, checkpoint: route.checkpoint, tab });
  return html`
    <section class="pane detail" aria-label="Checkpoint">
      <div class="title">
        <a class="back" href=${routeAddress({ thread, namespace })} aria-label="Back to the timeline">‹</a>
        <h1>step ${checkpoint.step} · ${checkpoint.node ?? checkpoint.source}</h1>
        ${checkpoint.label !== "" && html`<span class="tag label">${checkpoint.label}</span>`}
        ${!readOnly && html`<${CheckpointActions} facts=${facts} route=${route} onDone=${done} />`}
      </div>
      <p class="about">
        <code class="id">${checkpoint.id}</code>
        <span>${timeText(checkpoint.createdAt)}</span>
        <span title=${size.inherited ? "shared with the thread it was forked from" : ""}>
          ${bytesText(size.bytes)}${size.full ? ", whole" : ""}${size.inherited ? ", shared" : ""}
        </span>
        <span>${facts.next.length === 0 ? "nothing next" : `next: ${facts.next.map(({ node }) => node).join(", ")}`}</span>
      </p>
      ${facts.interrupts.map((interrupt) => html`<${InterruptCard} key=${interrupt.id} interrupt=${interrupt} route=${{ ...route, checkpoint: id }} readOnly=${readOnly} isHead=${id === timeline.head} onDone=${done} />`)}
      <div class="tabs" role="tablist" aria-label="Parts of the checkpoint">
        ${TABS.map(
          ([tab, name], index) => html`
            <button
              type="button"
              role="tab"
              id=${`tab-${tab}`}
              aria-selected=${route.tab === tab}
              aria-controls="tab-panel"
              tabindex=${route.tab === tab ? 0 : -1}
              onClick=${() => pick(tab)}
              onKeyDown=${(event) => {
                const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
                if (step === undefined) return;
                const [next] = TABS[(index + step + TABS.length) % TABS.length];
                pick(next);
                document.getElementById(`tab-${next}`).focus();
              }}
            >
              ${name}${tab === "writes" && facts.writes.length > 0 ? html` <small>${facts.writes.length}</small>` : ""}
            </button>
          `,
        )}
      </div>
      <div id="tab-panel" role="tabpanel" aria-labelledby=${`tab-${route.tab}`} tabindex="-1">
        <${Panel} route=${route} facts=${facts} timeline=${timeline} />
      </div>
    </section>
  `;
}

function Panel({ route, facts, timeline }) {
  const { thread, namespace } = route;
  const { checkpoint } = facts;
  const place = { thread, namespace, checkpoint: checkpoint.id };
  if (route.tab === "changes") return html`<${Changes} route=${route} facts=${facts} timeline=${timeline} />`;
  if (route.tab === "writes") return html`<${Writes} facts=${facts} place=${place} />`;
  if (route.tab === "details") return html`<${Details} facts=${facts} place=${place} />`;
  return html`<${StateTree} key=${JSON.stringify(place)} place=${place} search />`;
}

function Details({ facts, place }) {
  const { checkpoint, path, completed, barriers, next, size } = facts;
  const { id, parent, seq, source, run, workflow, stateVersion, createdAt } = checkpoint;
  const rows = [
    ["id", html`<code>${id}</code>`],
    [
      "parent",
      parent === null
        ? "none"
        : html`<a href=${routeAddress({ ...place, checkpoint: parent })}><code>${parent}</code></a>`,
    ],
    ["seq", String(seq)],
    ["source", source],
    ["run", run],
    ["workflow", workflow],
    ["state version", String(stateVersion)],
    ["committed", timeText(createdAt)],
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
  return html`
    <dl class="facts">
      ${rows.filter(([, value]) => value !== null && value !== "").map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}
    </dl>
    <h2>Metadata</h2>
    <${StateTree} key=${JSON.stringify(place)} place=${{ ...place, of: "metadata" }} />
  `;
}
