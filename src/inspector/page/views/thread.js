import { ThreadActions } from "../actions/thread.js";
import { html, useEffect } from "../dom.js";
import { refresh, useLive } from "../live.js";
import { countText } from "../parts/format.js";
import { go, routeAddress } from "../route.js";
import { useHistory } from "./history.js";
import { Timeline } from "./timeline.js";

/** Shows a thread: its facts, its nested graphs, and the timeline of its checkpoints. */
export function ThreadPane({ route, readOnly, onTimeline, notify }) {
  const { thread: id, namespace } = route;
  const { value: facts, error } = useLive("thread", { thread: id });
  const history = useHistory(id, namespace);
  const { rows } = history;
  useEffect(() => onTimeline({ rows, head: rows[0]?.id, thread: id, namespace }), [rows]);

  const thread = facts?.thread;
  return html`
    <section class="pane thread-pane" aria-label=${`Thread ${id}`}>
      <div class="title">
        <a class="back" href="#/threads" aria-label="Back to the threads">‹</a>
        <h1 title=${id}>${id}</h1>
        ${thread && html`<span class=${`status ${thread.status}`}>${thread.status}</span>`}
        ${thread && html`<${ThreadActions} thread=${thread} readOnly=${readOnly} notify=${notify} onDone=${refresh} />`}
      </div>
      ${error && html`<p class="failure banner" role="alert">${error.message}</p>`}
      ${
        thread &&
        html`
          <p class="about">
            ${thread.workflow && html`<span>${thread.workflow}</span>`}
            <span>${countText(thread.checkpoints, "checkpoint")}</span>
            ${
              thread.forkedFrom &&
              html`<span>forked from <a href=${routeAddress({ thread: thread.forkedFrom.thread, checkpoint: thread.forkedFrom.checkpoint })}>${thread.forkedFrom.thread}</a></span>`
            }
            ${
              namespace.length > 0 &&
              html`<span>in <b>${namespace.join(" / ")}</b> · <a href=${routeAddress({ thread: id })}>to the outer graph</a></span>`
            }
          </p>
        `
      }
      <${Timeline}
        history=${history}
        thread=${thread}
        graphs=${namespace.length === 0 ? (facts?.namespaces ?? []) : []}
        forks=${facts?.forks ?? []}
        route=${route}
        onOpen=${(checkpoint, event, inside = namespace) => {
          const shown = route.checkpoint ?? rows[0]?.id;
          if (event?.shiftKey && checkpoint !== undefined && shown !== undefined) {
            go({ ...route, checkpoint: shown, base: checkpoint, tab: "changes" });
          } else go({ thread: id, namespace: inside, checkpoint, tab: route.tab });
        }}
      />
    </section>
  `;
}
