import type { JSX } from "preact";
import { durationText } from "../../../display/quantities.ts";
import type { TimeFacts } from "../../api/answers.ts";
import { useLive } from "../live.ts";
import { VirtualList } from "../parts/virtual-list.tsx";
import { go, type PageRoute } from "../route.ts";

const ROW = 24;
/** A pause longer than this many times the work is drawn short: a person took a day to answer, and the rest would vanish. */
const LONG_PAUSE = 0.25;

/** Shows the steps of a thread on one axis of time, oldest first, nested graphs indented. */
export function TimeView({
  route,
  head,
}: {
  readonly route: PageRoute;
  readonly head: string | undefined;
}): JSX.Element {
  const { thread, namespace } = route;
  const { value, error } = useLive<TimeFacts>("times", { thread, namespace });
  if (error !== undefined) return <p class="failure banner">{error.message}</p>;
  if (value === undefined) return <p class="skeleton" />;
  const { spans, total } = value;
  const axis = axisOf(spans);
  const shown = route.checkpoint ?? head;
  return (
    <div class="time-view">
      <div class="time-axis" aria-hidden="true">
        <span>0</span>
        <span>{durationText(axis.length)}</span>
      </div>
      <VirtualList
        id="times"
        label={`Steps by time, oldest first; ${total.toLocaleString("en")}`}
        count={spans.length}
        rowHeight={ROW}
        active={spans.findIndex(({ id, isTask }) => id === shown && !isTask)}
        onOpen={(index) => {
          const span = spans[index]!;
          go({ ...route, namespace: span.namespace, checkpoint: span.id, base: undefined, path: undefined });
        }}
        row={(index) => {
          const { name, step, depth, from, to, isTask, isTimed } = spans[index]!;
          const [left, right] = [axis.at(from), axis.at(to)];
          return (
            <div class="span">
              <span class="span-name" style={{ paddingLeft: `${depth * 12}px` }} title={name}>
                <span class="hidden">{isTask ? "Task of step" : "Step"} </span>
                <small>{isTask ? <span class="hidden">{step}</span> : step}</small> {name}
              </span>
              <span class="span-track">
                <span
                  class={`span-bar lane-${depth % 6} ${isTask ? "task" : ""} ${isTimed ? "" : "untimed"}`}
                  style={{ left: `${left * 100}%`, width: `max(3px, ${(right - left) * 100}%)` }}
                />
              </span>
              <span class="span-took">{isTimed ? durationText(to - from) : ""}</span>
            </div>
          );
        }}
      />
      {axis.shortened > 0 && <p class="about">Long pauses are drawn short.</p>}
    </div>
  );
}

interface Axis {
  /** Returns the place of a moment, from 0 to 1. */
  readonly at: (moment: number) => number;
  readonly length: number;
  readonly shortened: number;
}

/** Makes an axis from the first span to the last on which long stretches without any step end are drawn short. */
function axisOf(spans: TimeFacts["spans"]): Axis {
  const moments = [...new Set(spans.flatMap(({ from, to }) => [from, to]))].sort((left, right) => left - right);
  const [first = 0, last = 0] = [moments[0], moments.at(-1)];
  const gaps = moments.slice(1).map((moment, index) => moment - moments[index]!);
  const sorted = gaps.toSorted((left, right) => left - right);
  const usual = sorted[Math.floor(sorted.length * 0.9)] ?? 0;
  const most = Math.max(usual * 3, (last - first) * LONG_PAUSE * 0.1, 1);
  const places = new Map<number, number>();
  let [place, shortened] = [0, 0];
  for (const [index, moment] of moments.entries()) {
    const gap = index === 0 ? 0 : gaps[index - 1]!;
    if (gap > most) shortened += 1;
    place += Math.min(gap, most);
    places.set(moment, place);
  }
  return { at: (moment) => (place === 0 ? 0 : (places.get(moment) ?? 0) / place), length: last - first, shortened };
}
