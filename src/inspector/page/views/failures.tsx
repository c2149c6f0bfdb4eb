import type { JSX } from "preact";
import { ageText, countText } from "../../../display/quantities.ts";
import type { FailureGroups } from "../../api/answers.ts";
import { useLive } from "../live.ts";
import { type PageRoute, threadAddress } from "../route.ts";

/** Shows what failed in all threads, equal failures together. */
export function FailuresView({ route }: { readonly route: PageRoute }): JSX.Element {
  const { value, error } = useLive<FailureGroups>("failures");
  return (
    <section class="pane failures" aria-label="Failures">
      <div class="title">
        <h1>Failures</h1>
        <span class="about" role="status">
          {value === undefined || value.total === 0
            ? ""
            : `${countText(value.total, "thread")}, ${countText(value.groups.length, "kind")}${value.complete ? "" : ", still reading …"}`}
        </span>
      </div>
      {error && (
        <p class="failure banner" role="alert">
          {error.message}
        </p>
      )}
      {value !== undefined && value.groups.length === 0 && value.complete && (
        <div class="nothing">
          <h2>Nothing failed</h2>
          <p>Threads whose last step ended with an error appear here, equal errors together.</p>
        </div>
      )}
      {value?.groups.map(({ failure, workflow, count, threads }) => (
        <article key={`${workflow} ${threads[0]!.thread}`} class="failure-group">
          <p class="headline">
            <b>{failure.node ?? "a task"}</b>
            {workflow && <span class="about">{workflow}</span>}
            <span class="tag failed">{countText(count, "thread")}</span>
          </p>
          <p class="error-message">
            <span class="error-name">{failure.name}</span>: {failure.message}
          </p>
          {failure.cause && (
            <p class="error-cause">
              caused by {failure.cause.name}: {failure.cause.message}
            </p>
          )}
          <ul class="failure-threads">
            {threads.slice(0, 12).map(({ thread, at, message }) => (
              <li key={thread}>
                <a href={threadAddress(route, thread)} title={message}>
                  {thread}
                </a>{" "}
                <time class="when" title={new Date(at).toLocaleString()}>
                  {ageText(at, Date.now())}
                </time>
              </li>
            ))}
            {count > 12 && <li class="more">and {(count - 12).toLocaleString("en")} more</li>}
          </ul>
        </article>
      ))}
    </section>
  );
}
