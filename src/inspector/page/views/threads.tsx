import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { ageText, countText, shortAge } from "../../../display/quantities.ts";
import type { Status, ThreadPage, ThreadRow } from "../../api/answers.ts";
import { addressOf } from "../api.ts";
import { useLiveAnswers } from "../live.ts";
import { Marked } from "../parts/leaf.tsx";
import { VirtualList } from "../parts/virtual-list.tsx";
import { go, type PageRoute, replaceRoute } from "../route.ts";

const PAGE = 50;
const ROW = 58;
export const STATUSES: readonly Status[] = ["waiting", "failed", "running", "paused", "cancelled", "done"];

interface Listed {
  readonly total: number;
  readonly beyond: number;
  readonly pages: ReadonlyMap<number, readonly ThreadRow[]>;
  readonly statuses: ThreadPage["statuses"];
  readonly workflows: readonly string[];
  readonly complete: boolean;
  readonly known: boolean;
}

const NOTHING: Listed = {
  total: 0,
  beyond: 0,
  pages: new Map(),
  statuses: {},
  workflows: [],
  complete: false,
  known: false,
};

/**
 * Shows the threads of the store, newest activity first. Pages are loaded when they become visible, and kept up to date
 * while they are.
 */
export function Threads({ route }: { readonly route: PageRoute }): JSX.Element {
  const { search, status, workflow } = route;
  const [list, setList] = useState(NOTHING);
  const [failure, setFailure] = useState("");
  const [[first, last], setSight] = useState([0, 0]);
  const [typed, setTyped] = useState(search);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => setTyped(search), [search]);
  const numbers = Array.from({ length: last - first + 1 }, (_, index) => first + index);
  const answers = useLiveAnswers<ThreadPage>(
    numbers.map((page) => addressOf("threads", { search, status, workflow, offset: page * PAGE, limit: PAGE })),
  );
  // The list stays as it was until all visible pages are there.
  useEffect(() => {
    setFailure(answers.find((answer) => answer?.error !== undefined)?.error?.message ?? "");
    const values = answers.map((answer) => answer?.value);
    const newest = values.at(-1);
    if (newest === undefined || values.some((value) => value === undefined)) return;
    const { total, beyond, statuses, workflows, complete } = newest;
    const pages = new Map(numbers.map((page, index) => [page, values[index]!.threads]));
    setList({ total, beyond, pages, statuses, workflows, complete, known: true });
  }, answers);
  // Another search begins at the top.
  useEffect(() => {
    document.getElementById("threads")?.scrollTo({ top: 0 });
  }, [search, status, workflow]);

  const filter = (change: Partial<PageRoute>): void => replaceRoute({ ...route, ...change });
  const threadAt = (index: number): ThreadRow | undefined => list.pages.get(Math.floor(index / PAGE))?.[index % PAGE];
  const active = [...list.pages].flatMap(([page, threads]) => {
    const index = threads.findIndex(({ id }) => id === route.thread);
    return index < 0 ? [] : [page * PAGE + index];
  });
  const all = Object.values(list.statuses).reduce((sum, count) => sum + count, 0);
  const now = Date.now();
  const isFiltered = search !== "" || status !== "" || workflow !== "";
  return (
    <section class="pane threads" aria-label="Threads">
      <div class="filters" role="search">
        <input
          id="search"
          type="search"
          placeholder="Search threads"
          aria-label="Search threads"
          value={typed}
          onInput={(event) => {
            const text = event.currentTarget.value;
            setTyped(text);
            clearTimeout(timer.current);
            timer.current = setTimeout(() => filter({ search: text }), 120);
          }}
          onKeyDown={(event) => {
            if (event.key === "ArrowDown" || event.key === "Enter") document.getElementById("threads")?.focus();
          }}
        />
        {list.workflows.length > 1 && (
          <select
            aria-label="Workflow"
            value={workflow}
            onChange={(event) => filter({ workflow: event.currentTarget.value })}
          >
            <option value="">All workflows</option>
            {list.workflows.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        )}
        <div class="chips" role="group" aria-label="Status">
          {(["", ...STATUSES] as const)
            .filter((name) => name === "" || name === status || (list.statuses[name] ?? 0) > 0)
            .map((name) => (
              <button
                key={name}
                type="button"
                class={`chip ${name}`}
                aria-pressed={status === name}
                onClick={() => filter({ status: status === name ? "" : name })}
              >
                {name === "" ? "all" : name}{" "}
                <small>{(name === "" ? all : (list.statuses[name] ?? 0)).toLocaleString("en")}</small>
              </button>
            ))}
        </div>
      </div>
      {failure !== "" && (
        <p class="failure banner" role="alert">
          {failure}
        </p>
      )}
      {list.known && list.total === 0 && (
        <p class="empty" role="status">
          {isFiltered ? "No thread matches." : "No threads yet."}{" "}
          {isFiltered && (
            <button type="button" class="link" onClick={() => filter({ search: "", status: "", workflow: "" })}>
              Show all
            </button>
          )}
        </p>
      )}
      <VirtualList
        id="threads"
        label={`${countText(list.total, "thread")}${list.complete ? "" : ", still counting"}`}
        count={list.total}
        rowHeight={ROW}
        active={active[0] ?? -1}
        onOpen={(index) => {
          const thread = threadAt(index);
          if (thread) go({ view: "thread", thread: thread.id, search, status, workflow });
        }}
        onRange={(from, to) => {
          const wanted: [number, number] = [Math.floor(from / PAGE), Math.floor(Math.max(from, to) / PAGE)];
          setSight((before) => (String(before) === String(wanted) ? before : wanted));
        }}
        row={(index) => <Row thread={threadAt(index)} now={now} search={search} />}
      />
      <p class="foot">
        {countText(list.total, "thread")}
        {list.complete || list.total > 0 ? "" : " …"}
        {list.beyond > 0 &&
          `, and ${list.beyond.toLocaleString("en")} older: narrow the list, or search by how a name begins`}
      </p>
    </section>
  );
}

function Row({
  thread,
  now,
  search,
}: {
  readonly thread: ThreadRow | undefined;
  readonly now: number;
  readonly search: string;
}): JSX.Element {
  if (thread === undefined) return <span class="skeleton" />;
  const { id, status, workflow, head, updatedAt, forkedFrom, line } = thread;
  return (
    <div class="thread">
      <span class={`dot ${status}`} title={status}>
        <span class="hidden">{status} </span>
      </span>
      <span
        class="name"
        title={[id, workflow, forkedFrom && `forked from ${forkedFrom.thread}`].filter(Boolean).join("\n")}
      >
        <Marked text={id} mark={search} />
      </span>
      <time class="when" title={`${new Date(updatedAt).toLocaleString()}, ${ageText(updatedAt, now)}`}>
        {shortAge(updatedAt, now)}
      </time>
      <span class={`line says-${line?.kind ?? "nothing"}`}>
        {status !== "done" && line?.kind === "change" && <span class={`status ${status}`}>{status}</span>}
        {line?.text || `step ${head.step}${head.node ? ` · ${head.node}` : ""}`}
      </span>
    </div>
  );
}
