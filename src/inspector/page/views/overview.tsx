import type { JSX } from "preact";
import { countText } from "../../../display/quantities.ts";
import type { FailureGroups, Inbox, OverviewFacts, StoreFacts } from "../answers.ts";
import { useLive } from "../live.ts";
import { Code } from "../parts/copy.tsx";
import { addressOfRoute, filtersOf, type Route, threadAddress } from "../route.ts";
import { STATUSES } from "./threads.tsx";

const FIRST = 5;

/** Shows what somebody who opens the store wants to know first; in an empty store, how to begin. */
export function Overview({
  route,
  store,
}: {
  readonly route: Route;
  readonly store: StoreFacts | undefined;
}): JSX.Element {
  const { value: facts, error } = useLive<OverviewFacts>("overview");
  const { value: inbox } = useLive<Inbox>("inbox");
  const { value: failures } = useLive<FailureGroups>("failures");
  if (error !== undefined)
    return (
      <section class="pane overview" aria-label="Overview">
        <p class="failure banner" role="alert">
          {error.message}
        </p>
      </section>
    );
  if (facts === undefined)
    return (
      <section class="pane overview" aria-label="Overview">
        <p class="skeleton" />
      </section>
    );
  if (facts.total === 0 && facts.complete) return <FirstSteps store={store} />;
  const open = inbox?.questions.filter(({ answered }) => !answered) ?? [];
  return (
    <section class="pane overview" aria-label="Overview">
      <h1>Overview</h1>
      <div class="tiles">
        {STATUSES.map((status) => (
          <a
            key={status}
            class={`tile ${status}`}
            href={addressOfRoute({ ...filtersOf(route), view: "threads", status })}
          >
            <b>{(facts.statuses[status] ?? 0).toLocaleString("en")}</b>
            <span>{status}</span>
          </a>
        ))}
      </div>
      <p class="about">
        <span>{countText(facts.total, "thread")}</span>
        <span>{countText(facts.checkpoints, "checkpoint")}</span>
        {!facts.complete && <span>still counting …</span>}
      </p>
      {open.length > 0 && (
        <>
          <h2>
            <a href={addressOfRoute({ ...filtersOf(route), view: "inbox" })}>Waiting for an answer</a>
          </h2>
          <ul class="plain-list">
            {open.slice(0, FIRST).map(({ thread, id, text, node }) => (
              <li key={`${thread} ${id}`}>
                <a href={threadAddress(route, thread)}>
                  <b>{thread}</b> <span class="line says-question">{text}</span> <small>{node}</small>
                </a>
              </li>
            ))}
          </ul>
          {open.length > FIRST && (
            <a class="all" href={addressOfRoute({ ...filtersOf(route), view: "inbox" })}>
              all {open.length}
            </a>
          )}
        </>
      )}
      {failures !== undefined && failures.groups.length > 0 && (
        <>
          <h2>
            <a href={addressOfRoute({ ...filtersOf(route), view: "failures" })}>Failures</a>
          </h2>
          <ul class="plain-list">
            {failures.groups.slice(0, FIRST).map(({ failure, count, threads }) => (
              <li key={threads[0]!.thread}>
                <a
                  href={
                    count === 1
                      ? threadAddress(route, threads[0]!.thread)
                      : addressOfRoute({ ...filtersOf(route), view: "failures" })
                  }
                >
                  <b>{count === 1 ? threads[0]!.thread : `${count} threads`}</b>{" "}
                  <span class="line says-failure">
                    {failure.node}: {failure.message}
                  </span>
                </a>
              </li>
            ))}
          </ul>
        </>
      )}
      <h2>Activity</h2>
      <Activity facts={facts} />
      {facts.workflows.length > 1 && (
        <>
          <h2>Workflows</h2>
          <table class="workflows">
            <caption class="hidden">Threads by workflow and status</caption>
            <thead>
              <tr>
                <th scope="col">Workflow</th>
                {STATUSES.map((status) => (
                  <th key={status} scope="col">
                    {status}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {facts.workflows.map(({ name, counts }) => (
                <tr key={name}>
                  <th scope="row">
                    <a href={addressOfRoute({ view: "threads", workflow: name })}>{name || "(none)"}</a>
                  </th>
                  {STATUSES.map((status) => (
                    <td key={status} class={counts[status] ? `status ${status}` : "zero"}>
                      {(counts[status] ?? 0).toLocaleString("en")}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </>
      )}
    </section>
  );
}

const WIDTH = 720;
const HEIGHT = 96;

/** Draws how many threads were last active, and how many were begun, over time. */
function Activity({ facts }: { readonly facts: OverviewFacts }): JSX.Element {
  const { from, to, updated, created } = facts.activity;
  const most = Math.max(1, ...updated, ...created);
  const wide = WIDTH / updated.length;
  const bar = (count: number): number => (count / most) * (HEIGHT - 20);
  const time = (at: number): string =>
    to - from > 2 * 86_400_000
      ? new Date(at).toLocaleDateString()
      : new Date(at).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);
  return (
    <figure class="activity">
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        role="img"
        aria-label={`${sum(updated)} threads active and ${sum(created)} begun since ${new Date(from).toLocaleString()}`}
      >
        {updated.map((count, index) => (
          <g key={index}>
            {count > 0 && (
              <rect
                class="active-bar"
                x={index * wide + 1}
                y={HEIGHT - 16 - bar(count)}
                width={wide - 2}
                height={bar(count)}
                rx="2"
              />
            )}
            {created[index]! > 0 && (
              <rect
                class="begun-bar"
                x={index * wide + wide / 3}
                y={HEIGHT - 16 - bar(created[index]!)}
                width={wide / 3}
                height={bar(created[index]!)}
                rx="1"
              />
            )}
          </g>
        ))}
        <line class="grid" x1="0" x2={WIDTH} y1={HEIGHT - 16} y2={HEIGHT - 16} />
        <text x="0" y={HEIGHT - 3}>
          {time(from)}
        </text>
        <text x={WIDTH} y={HEIGHT - 3} text-anchor="end">
          now
        </text>
      </svg>
      <figcaption>
        <span class="swatch active-swatch" /> last active <span class="swatch begun-swatch" /> begun
      </figcaption>
    </figure>
  );
}

function FirstSteps({ store }: { readonly store: StoreFacts | undefined }): JSX.Element {
  const url = store?.url ?? "sqlite:agent.db";
  return (
    <section class="pane overview first-steps" aria-label="First steps">
      <h1>This store is empty</h1>
      <p>Threads appear here as soon as they are written. Three ways to begin:</p>
      <h2>With LangGraph</h2>
      <Code
        label="the code for LangGraph"
        text={`import { open } from "threadmark";\nimport { ThreadmarkSaver } from "threadmark/langgraph";\n\nconst checkpointer = new ThreadmarkSaver(await open(${JSON.stringify(url)}));\nconst graph = builder.compile({ checkpointer });`}
      />
      <h2>With the runtime</h2>
      <Code
        label="the code for the runtime"
        text={`import { open } from "threadmark";\nimport { END, graph, START } from "threadmark/runtime";\n\nconst flow = graph("hello")\n  .node("greet", () => ({ text: "Hello" }))\n  .edge(START, "greet")\n  .edge("greet", END)\n  .compile({ store: await open(${JSON.stringify(url)}) });\nawait flow.run({}, { thread: "first" });`}
      />
      <h2>With the store alone</h2>
      <Code
        label="the code for the store"
        text={`import { open } from "threadmark";\n\nconst store = await open(${JSON.stringify(url)});\nawait store.thread("first").put({ state: { n: 1 }, node: "count" });`}
      />
    </section>
  );
}
