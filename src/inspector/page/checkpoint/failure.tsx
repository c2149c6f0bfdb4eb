import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { CheckpointFacts, Failure } from "../../api/answers.ts";
import { Code } from "../parts/copy.tsx";
import type { PageRoute } from "../route.ts";

/** Shows the errors that the next step ended with, what is kept, and the code that goes on from there. */
export function FailureBanner({
  facts,
  route,
}: {
  readonly facts: CheckpointFacts;
  readonly route: PageRoute;
}): JSX.Element | null {
  const { failures, checkpoint, next, langgraph, writes } = facts;
  const [code, setCode] = useState(false);
  if (failures.length === 0) return null;
  const done = new Set(writes.filter(({ index }) => index >= 0).map(({ task }) => task)).size;
  const nodes = [...new Set(next.map(({ node }) => node))].join(", ");
  return (
    <section class="failure-banner" aria-label="Failure">
      {failures.map((failure) => (
        <OneFailure key={failure.task} failure={failure} />
      ))}
      <p class="about">
        <span>
          Can go on from step {checkpoint.step}
          {nodes === "" ? "" : `: ${nodes} ${next.length === 1 ? "runs" : "run"} again`}
          {done > 0 ? `; ${done === 1 ? "the result of 1 task is" : `the results of ${done} tasks are`} kept` : ""}.
        </span>
        <button type="button" class="small" aria-expanded={code} onClick={() => setCode(!code)}>
          {code ? "hide the code" : "the code to resume"}
        </button>
      </p>
      {code && <Code text={resumeCode(route.thread, langgraph)} label="the code to resume" />}
    </section>
  );
}

function resumeCode(thread: string, langgraph: boolean): string {
  const id = JSON.stringify(thread);
  return langgraph
    ? `await graph.invoke(null, { configurable: { thread_id: ${id} } });`
    : `await flow.resume({ thread: ${id} });`;
}

function OneFailure({ failure }: { readonly failure: Failure }): JSX.Element {
  const { node, name, code, message, stack, cause, task } = failure;
  return (
    <div class="one-failure">
      <p class="headline">
        <b>{node ?? task}</b> failed: <span class="error-name">{name}</span>
        {code && code !== name && <code class="error-code">{code}</code>}
      </p>
      <p class="error-message">{message}</p>
      {causesOf(failure).map((one, index) => (
        <p key={index} class="error-cause">
          caused by <span class="error-name">{one.name}</span>: {one.message}
        </p>
      ))}
      {(stack ?? cause?.stack) && (
        <details>
          <summary>Stack</summary>
          <pre tabIndex={0} role="region" aria-label="Stack">
            {stack ?? cause?.stack}
          </pre>
        </details>
      )}
    </div>
  );
}

function causesOf(failure: Pick<Failure, "cause">): readonly { readonly name: string; readonly message: string }[] {
  const causes: { name: string; message: string }[] = [];
  for (let cause = failure.cause; cause !== undefined; cause = cause.cause) causes.push(cause);
  return causes;
}
