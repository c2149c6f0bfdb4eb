import { addressOf } from "../api.js";
import { classes, html, useEffect, useState } from "../dom.js";
import { useLiveAnswers } from "../live.js";
import { ageText, countText } from "../parts/format.js";
import { VirtualList } from "../parts/virtual.js";
import { go } from "../route.js";

const PAGE = 100;
const STATUSES = ["running", "waiting", "failed", "done", "paused"];

/**
 * Shows the threads of the store, newest activity first. Pages are loaded when they become visible, and kept up to date
 * while they are.
 */
export function Threads({ route }) {
  const [search, setSearch] = useState("");
  const [status, setStatus] = useState("");
  const [workflow, setWorkflow] = useState("");
  const [list, setList] = useState({ total: 0, pages: new Map(), statuses: {}, workflows: [], complete: false });
  const [failure, setFailure] = useState("");
  const [[first, last], setSight] = useState([0, 0]);
  const numbers = Array.from({ length: last - first + 1 }, (_, index) => first + index);
  const answers = useLiveAnswers(
    numbers.map((page) => addressOf("threads", { search, status, workflow, offset: page * PAGE, limit: PAGE })),
  );
  // The list stays as it was until all visible pages are there.
  useEffect(() => {
    const failed = answers.find((answer) => answer?.error !== undefined);
    setFailure(failed?.error.message ?? "");
    if (!answers.every((answer) => answer?.value !== undefined)) return;
    const { total, statuses, workflows, complete } = answers.at(-1).value;
    const pages = new Map(numbers.map((page, index) => [page, answers[index].value.threads]));
    setList({ total, pages, statuses, workflows, complete });
  }, answers);
  // Another search begins at the top.
  useEffect(() => {
    document.getElementById("threads")?.scrollTo({ top: 0 });
  }, [search, status, workflow]);

  const threadAt = (index) => list.pages.get(Math.floor(index / PAGE))?.[index % PAGE];
  const active = [...list.pages].flatMap(([page, threads]) => {
    const index = threads.findIndex(({ id }) => id === route.thread);
    return index < 0 ? [] : [page * PAGE + index];
  });
  const all = Object.values(list.statuses).reduce((sum, count) => sum + count, 0);
  const now = Date.now();
  return html`
    <section class="pane threads" aria-label="Threads">
      <div class="filters" role="search">
        <input
          id="search"
          type="search"
          placeholder="Search threads"
          aria-label="Search threads"
          value=${search}
          onInput=${(event) => setSearch(event.target.value)}
          onKeyDown=${(event) => {
            if (event.key === "ArrowDown" || event.key === "Enter") document.getElementById("threads").focus();
          }}
        />
        <select aria-label="Workflow" value=${workflow} onChange=${(event) => setWorkflow(event.target.value)}>
          <option value="">All workflows</option>
          ${list.workflows.map((name) => html`<option value=${name}>${name}</option>`)}
        </select>
        <div class="chips" role="group" aria-label="Status">
          ${["", ...STATUSES].map(
            (name) => html`
              <button type="button" class=${classes({ chip: true, [name]: name })} aria-pressed=${status === name}
                onClick=${() => setStatus(name)}>
                ${name === "" ? "all" : name} <small>${(name === "" ? all : (list.statuses[name] ?? 0)).toLocaleString("en")}</small>
              </button>
            `,
          )}
        </div>
      </div>
      ${failure !== "" && html`<p class="failure banner" role="alert">${failure}</p>`}
      <${VirtualList}
        id="threads"
        label=${`${countText(list.total, "thread")}${list.complete ? "" : ", still counting"}`}
        count=${list.total}
        rowHeight=${56}
        active=${active[0] ?? -1}
        onOpen=${(index) => {
          const thread = threadAt(index);
          if (thread) go({ thread: thread.id });
        }}
        onRange=${(first, last) => {
          const wanted = [Math.floor(first / PAGE), Math.floor(Math.max(first, last) / PAGE)];
          setSight((before) => (String(before) === String(wanted) ? before : wanted));
        }}
        describe=${(index) => {
          const thread = threadAt(index);
          return thread && `${thread.id}, ${thread.status}, ${countText(thread.checkpoints, "checkpoint")}`;
        }}
        row=${(index) => html`<${ThreadRow} thread=${threadAt(index)} now=${now} />`}
      />
      <p class="foot">${countText(list.total, "thread")}${list.complete ? "" : " so far …"}</p>
    </section>
  `;
}

function ThreadRow({ thread, now }) {
  if (thread === undefined) return html`<span class="loading">…</span>`;
  const { id, status, workflow, head, checkpoints, updatedAt, forkedFrom } = thread;
  return html`
    <div class="thread">
      <span class=${`dot ${status}`} aria-hidden="true"></span>
      <span class="name" title=${id}>${id}</span>
      <span class="when">${ageText(updatedAt, now)}</span>
      <span class="about">
        <span class=${`status ${status}`}>${status}</span>
        ${workflow && html`<span>${workflow}</span>`}
        <span title=${countText(checkpoints, "checkpoint")}>step ${head.step}${head.node ? ` · ${head.node}` : ""}</span>
        ${forkedFrom && html`<span title=${`forked from ${forkedFrom.thread}`}>↳ ${forkedFrom.thread}</span>`}
      </span>
    </div>
  `;
}
