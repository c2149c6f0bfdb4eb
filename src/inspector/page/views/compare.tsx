import type { JSX } from "preact";
import { countText } from "../../../display/quantities.ts";
import { stepName } from "../../../display/steps/step-name.ts";
import type { CompareFacts, CompareSide, Diff } from "../../api/answers.ts";
import { useAnswer } from "../answer.ts";
import { get } from "../api.ts";
import { ChangeList } from "../checkpoint/changes.tsx";
import { useLive } from "../live.ts";
import { VirtualList } from "../parts/virtual-list.tsx";
import { addressOfRoute, filtersOf, go, type PageRoute, threadAddress } from "../route.ts";

const ROW = 44;

/** Shows two threads side by side, aligned by step, and how their heads differ. */
export function CompareView({ route }: { readonly route: PageRoute }): JSX.Element {
  const { thread: left, other: right } = route;
  const { value, error } = useLive<CompareFacts>("compare", { left, right });
  const heads = value && [value.left.head, value.right.head];
  const diff = useAnswer<Diff | undefined>(
    async (signal) =>
      heads === undefined
        ? undefined
        : get<Diff>("diff", { thread: left, before: heads[0], after: heads[1], other: right }, signal),
    [left, right, JSON.stringify(heads)],
  );
  if (error !== undefined)
    return (
      <section class="pane compare" aria-label="Comparison">
        <div class="nothing">
          <h1>These cannot be compared</h1>
          <p role="alert">{error.message}</p>
        </div>
      </section>
    );
  return (
    <section class="pane compare" aria-label="Comparison">
      <div class="title">
        <h1>
          <a href={threadAddress(route, left)}>{left}</a> and <a href={threadAddress(route, right)}>{right}</a>
        </h1>
        <div class="actions">
          <a class="button" href={addressOfRoute({ ...filtersOf(route), view: "compare", thread: right, other: left })}>
            Swap
          </a>
        </div>
      </div>
      <p class="about">
        {value &&
          (value.common > 0 ? `They share ${countText(value.common, "checkpoint")}.` : "They share no checkpoint.")}
      </p>
      <div class="compare-columns">
        {value === undefined ? (
          <p class="skeleton" />
        ) : (
          <div class="compare-steps">
            <div class="compare-head" aria-hidden="true">
              <span />
              <span title={left}>{left}</span>
              <span title={right}>{right}</span>
            </div>
            <VirtualList
              id="compared"
              label={`Steps of both threads; ${value.rows.length}`}
              count={value.rows.length}
              rowHeight={ROW}
              active={-1}
              onOpen={(index) => {
                const row = value.rows[index]!;
                const isRight = row.left === null;
                go({
                  ...filtersOf(route),
                  view: "thread",
                  thread: isRight ? right : left,
                  checkpoint: (row.left ?? row.right)!.id,
                });
              }}
              row={(index) => {
                const row = value.rows[index]!;
                return (
                  <div class={`compare-row ${row.same ? "same" : ""}`}>
                    <span class="number">
                      <span class="hidden">Step </span>
                      {row.step}
                    </span>
                    <Side side={row.left} />
                    <Side side={row.right} />
                  </div>
                );
              }}
            />
          </div>
        )}
        <div class="compare-diff">
          <h2>
            From the head of {left} to that of {right}
          </h2>
          {diff.error && (
            <p class="failure" role="alert">
              {diff.error.message}
            </p>
          )}
          {diff.value && heads && (
            <ChangeList
              diff={diff.value}
              before={{ thread: left, checkpoint: heads[0] }}
              after={{ thread: right, checkpoint: heads[1] }}
            />
          )}
        </div>
      </div>
    </section>
  );
}

function Side({ side }: { readonly side: CompareSide | null }): JSX.Element {
  if (side === null) return <span class="side none">—</span>;
  return (
    <span class="side">
      <span class="node">{stepName(side, side.ran)}</span>
      <span class="line">{side.line ?? ""}</span>
    </span>
  );
}
