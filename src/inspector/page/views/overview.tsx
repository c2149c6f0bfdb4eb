import type { JSX } from "preact";
import { countText, shortAge } from "../../../display/quantities.ts";
import type { FailureGroups, Inbox, OverviewFacts, StoreFacts } from "../../api/answers.ts";
import { useLive } from "../live.ts";
import { Code } from "../parts/copy.tsx";
import { addressOfRoute, filtersOf, type PageRoute, threadAddress } from "../route.ts";
import { STATUSES } from "./threads.tsx";

const FIRST = 5;

/** Shows what somebody who opens the store wants to know first; in an empty store, how to begin. */
export function Overview({
  route,
  store,
}: {
  readonly route: PageRoute;
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
  const met = STATUSES.filter((status) => (facts.statuses[status] ?? 0) > 0);
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
            <b class={(facts.statuses[status] ?? 0) >= 10_000 ? "many" : ""}>
              {(facts.statuses[status] ?? 0).toLocaleString("en")}
            </b>
            <span>{status}</span>
          </a>
        ))}
      </div>
      <p class="about">
        <span>{countText(facts.total, "thread")}</span>
        <span>
          {facts.complete ? countText(facts.checkpoints, "checkpoint") : "counting checkpoints …"}
          {facts.listed !== null && ` in the ${facts.listed.toLocaleString("en")} threads that were active last`}
        </span>
      </p>
      {open.length > 0 && (
        <>
          <h2>
            <a href={addressOfRoute({ ...filtersOf(route), view: "inbox" })}>Waiting for an answer</a>
          </h2>
          <ul class="plain-list">
            {open.slice(0, FIRST).map(({ thread, id, text, since }) => (
              <li key={`${thread} ${id}`}>
                <a href={threadAddress(route, thread)}>
                  <b>{thread}</b> <span class="line says-question">{text}</span> <Age at={since} />
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
                  </span>{" "}
                  <Age at={Math.max(...threads.map(({ at }) => at))} />
                </a>
              </li>
            ))}
          </ul>
        </>
      )}
      <h2>Activity</h2>
      {facts.complete ? <Activity facts={facts} /> : <p class="skeleton" />}
      {facts.workflows.length > 1 && (
        <>
          <h2>Workflows</h2>
          <div class="scroll" tabIndex={0} role="region" aria-label="Threads by workflow">
            <table class="workflows">
              <caption class="hidden">Threads by workflow and status</caption>
              <thead>
                <tr>
                  <th scope="col">Workflow</th>
                  {met.map((status) => (
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
                    {met.map((status) => (
                      <td key={status} class={counts[status] ? `status ${status}` : "zero"}>
                        {(counts[status] ?? 0).toLocaleString("en")}
                      </td>
                    ))}
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </>
      )}
    </section>
  );
}

/** Shows how long ago something happened, at the end of a row. */
function Age({ at }: { readonly at: number }): JSX.Element {
  return (
    <time class="when" title={new Date(at).toLocaleString()}>
      {shortAge(at, Date.now())}
    </time>
  );
}

const WIDTH = 720;
const HEIGHT = 80;

/** Draws how many threads were last active, and how many were begun, over time. */
function Activity({ facts }: { readonly facts: OverviewFacts }): JSX.Element {
  const { from, to, updated, created } = facts.activity;
  const most = Math.max(1, ...updated, ...created);
  const wide = WIDTH / updated.length;
  const bar = (count: number): number => (count / most) * (HEIGHT - 4);
  const time = (at: number): string =>
    to - from > 2 * 86_400_000
      ? new Date(at).toLocaleDateString()
      : new Date(at).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);
  // The number of threads there were, on a scale of its own: how fast the store grows.
  const earlier = Math.max(0, facts.total - sum(created));
  let threads = earlier;
  const height = (count: number): string => (HEIGHT - 2 - (count / Math.max(1, facts.total)) * (HEIGHT - 6)).toFixed(1);
  const growth = created.reduce(
    (path, count, index) => {
      threads += count;
      return `${path}L${((index + 1) * wide).toFixed(1)} ${height(threads)}`;
    },
    `M0 ${height(earlier)}`,
  );
  return (
    <figure class="activity">
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${sum(updated)} threads active and ${sum(created)} begun since ${new Date(from).toLocaleString()}`}
      >
        {updated.map((count, index) => (
          <g key={index}>
            {count > 0 && (
              <rect
                class="active-bar"
                x={index * wide + 1}
                y={HEIGHT - bar(count)}
                width={wide - 2}
                height={bar(count)}
              />
            )}
            {created[index]! > 0 && (
              <rect
                class="begun-bar"
                x={index * wide + wide / 3}
                y={HEIGHT - bar(created[index]!)}
                width={wide / 3}
                height={bar(created[index]!)}
              />
            )}
          </g>
        ))}
        <path class="growth-line" d={growth} />
      </svg>
      <div class="ends" aria-hidden="true">
        <span>{time(from)}</span>
        <span>now</span>
      </div>
      <figcaption>
        <span>
          <span class="swatch active-swatch" /> last active
        </span>
        <span>
          <span class="swatch begun-swatch" /> begun
        </span>
        <span>
          <span class="swatch growth-swatch" /> in all, from {earlier.toLocaleString("en")} to{" "}
          {facts.total.toLocaleString("en")}
        </span>
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
