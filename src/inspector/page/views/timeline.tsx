import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { ageText, countText, durationText, shortAge } from "../../../display/quantities.ts";
import { stepName } from "../../../display/steps/step-name.ts";
import type {
  CheckpointItem,
  Fork,
  GraphItem,
  LanePlace,
  NextItem,
  TimelineItem,
  TimelinePage,
  TimelinePosition,
} from "../../api/answers.ts";
import { addressOf, get } from "../api.ts";
import { useLiveAnswers } from "../live.ts";
import { VirtualList } from "../parts/virtual-list.tsx";
import type { PageRoute } from "../route.ts";

const ROW = 50;
const PAGE = 60;
const LANE = 16;
const MOST_LANES = 10;

/** The rows of a timeline that are known: the pages in sight, kept up to date. */
export interface TimelineRows {
  readonly total: number;
  readonly checkpoints: number;
  readonly lanes: number;
  readonly head: string | undefined;
  readonly at: (index: number) => TimelineItem | undefined;
  /** Returns the row of a checkpoint if it is known. */
  readonly find: (checkpoint: string) => number | undefined;
  readonly look: (first: number, last: number) => void;
  readonly error: Error | undefined;
}

/** Keeps the visible pages of a namespace's timeline up to date. */
export function useTimeline(thread: string, namespace: readonly string[]): TimelineRows {
  const [[first, last], setSight] = useState([0, 0]);
  const pages = useRef(new Map<number, TimelinePage>());
  const numbers = Array.from({ length: last - first + 1 }, (_, index) => first + index);
  const answers = useLiveAnswers<TimelinePage>(
    numbers.map((page) => addressOf("timeline", { thread, namespace, offset: page * PAGE, limit: PAGE })),
  );
  for (const [index, answer] of answers.entries()) {
    const page = numbers[index]!;
    if (answer?.value !== undefined && answer.value.offset === page * PAGE) pages.current.set(page, answer.value);
  }
  // A stretch that was seen before may have moved meanwhile: only what is in sight is sure.
  for (const page of pages.current.keys()) if (page < first - 2 || page > last + 2) pages.current.delete(page);
  // The facts of the whole stay while the stretch in sight is read.
  const facts = useRef<TimelinePage | undefined>(undefined);
  facts.current = answers.findLast((answer) => answer?.value !== undefined)?.value ?? facts.current;
  const newest = facts.current;
  return {
    total: newest?.total ?? 0,
    checkpoints: newest?.checkpoints ?? 0,
    lanes: newest?.lanes ?? 1,
    head: newest?.head ?? undefined,
    at: (index) => pages.current.get(Math.floor(index / PAGE))?.items[index % PAGE],
    find: (checkpoint) => {
      for (const [page, { items }] of pages.current) {
        const index = items.findIndex((item) => item.kind === "checkpoint" && item.id === checkpoint);
        if (index >= 0) return page * PAGE + index;
      }
      return undefined;
    },
    look: (from, to) => {
      const wanted: [number, number] = [Math.floor(from / PAGE), Math.floor(Math.max(from, to) / PAGE)];
      setSight((before) => (String(before) === String(wanted) ? before : wanted));
    },
    error: answers.find((answer) => answer?.error !== undefined)?.error,
  };
}

type Position = Pick<TimelinePosition, "position" | "index">;

const NOWHERE: Position = { position: -1, index: -1 };

/** Finds where in the timeline a checkpoint is, wherever it is. The newest needs no asking. */
export function usePosition(route: PageRoute, rows: TimelineRows): Position {
  const { thread, namespace, checkpoint } = route;
  const [answer, setAnswer] = useState<{ readonly of: string; readonly position: Position } | undefined>(undefined);
  const wanted = checkpoint ?? rows.head;
  // The place of the checkpoint before is not that of this one: the list would go there, and stay.
  const found = answer !== undefined && answer.of === wanted ? answer.position : NOWHERE;
  const key = JSON.stringify([wanted, rows.total]);
  useEffect(() => {
    if (wanted === undefined || rows.total === 0) return undefined;
    const controller = new AbortController();
    get<Position>("timeline/position", { thread, namespace, checkpoint: wanted }, controller.signal).then(
      (position) => setAnswer({ of: wanted, position }),
      () => undefined,
    );
    return () => controller.abort();
  }, [key]);
  const known = wanted === undefined ? undefined : rows.find(wanted);
  return known === undefined ? found : { position: known, index: found.index };
}

interface TimelineProps {
  readonly rows: TimelineRows;
  readonly position: number;
  readonly forks: readonly Fork[];
  readonly route: PageRoute;
  readonly onOpen: (
    checkpoint: string | undefined,
    event: MouseEvent | KeyboardEvent,
    namespace?: readonly string[],
  ) => void;
}

/** Shows checkpoints, newest first, with lines to their parents; nested graphs where they ran; what comes next on top. */
export function Timeline({ rows, position, forks, route, onOpen }: TimelineProps): JSX.Element {
  const now = Date.now();
  const lanes = Math.min(rows.lanes, MOST_LANES);
  const forkedAt = new Map<string, string[]>();
  for (const { checkpoint, thread } of forks)
    if (checkpoint !== null) forkedAt.set(checkpoint, [...(forkedAt.get(checkpoint) ?? []), thread]);
  return (
    <VirtualList
      id="timeline"
      label={`Checkpoints, newest first; ${rows.checkpoints.toLocaleString("en")}`}
      count={rows.total}
      rowHeight={ROW}
      active={position}
      activeKey={route.checkpoint ?? "head"}
      onOpen={(index, event) => {
        const item = rows.at(index);
        if (item === undefined) return;
        if (item.kind === "graph") onOpen(undefined, event, item.namespace);
        else onOpen(item.kind === "next" ? rows.head : item.id, event);
      }}
      onRange={rows.look}
      row={(index) => {
        const item = rows.at(index);
        if (item === undefined) return <span class="skeleton" />;
        if (item.kind === "next") return <NextRow item={item} lanes={lanes} />;
        if (item.kind === "graph") return <GraphRow item={item} lanes={lanes} />;
        return (
          <CheckpointRow
            item={item}
            lanes={lanes}
            isHead={item.id === rows.head}
            isBase={route.base === item.id}
            isDimmed={route.node !== undefined && !isOfNode(item, route.node)}
            forks={forkedAt.get(item.id) ?? []}
            now={now}
          />
        );
      }}
    />
  );
}

/** Tells whether a node ran in the step of a checkpoint. */
export function isOfNode({ node, source, ran }: CheckpointItem, wanted: string): boolean {
  return ran.length > 0 ? ran.some(([name]) => name === wanted) : source !== "input" && node === wanted;
}

interface CheckpointRowProps {
  readonly item: CheckpointItem;
  readonly lanes: number;
  readonly isHead: boolean;
  readonly isBase: boolean;
  readonly isDimmed: boolean;
  readonly forks: readonly string[];
  readonly now: number;
}

function CheckpointRow({ item, lanes, isHead, isBase, isDimmed, forks, now }: CheckpointRowProps): JSX.Element {
  const { step, node, source, label, pending, createdAt, took, line, failed, asked, place } = item;
  const kind = failed ? "failed" : isHead && pending === 0 ? "done" : source;
  return (
    <div class={`step ${isBase ? "base" : ""} ${isDimmed ? "dimmed" : ""}`}>
      <Lines place={place} lanes={lanes} kind={kind} />
      <span class="number">
        <span class="hidden">Step </span>
        {step}
      </span>
      <span class="words">
        <span class="first">
          <span class="node">{stepName(item, item.ran)}</span>
          {(source === "update" || source === "fork") && node !== null && <span class="tag">{source}</span>}
          {asked && (
            <span class="tag" title="It asked a question, which was answered">
              asked
            </span>
          )}
          {failed && (
            <span class="tag failed" title="The step after it failed at first">
              failed
            </span>
          )}
          {isBase && <span class="tag">compared</span>}
          {label !== "" && (
            <span class="tag label" title={label}>
              {label}
            </span>
          )}
          {forks.length > 0 && (
            <span class="tag fork" title={`forked here: ${forks.join(", ")}`}>
              ↳ {forks.length === 1 ? forks[0] : `${forks.length} forks`}
            </span>
          )}
        </span>
        <span class="line">{line ?? ""}</span>
      </span>
      <span class="times">
        <span class="took" title={took === null ? "" : `took ${durationText(took)}`}>
          {took === null ? "" : durationText(took)}
        </span>
        <time class="when" title={`${new Date(createdAt).toLocaleString()}, ${ageText(createdAt, now)}`}>
          {shortAge(createdAt, now) === "now" ? "now" : `${shortAge(createdAt, now)} ago`}
        </time>
      </span>
    </div>
  );
}

const NEXT_TAGS = { failed: "failed", asks: "asks", answered: "answered", next: "next" } as const;

function NextRow({ item, lanes }: { readonly item: NextItem; readonly lanes: number }): JSX.Element {
  const kind = { failed: "failed", asks: "waiting", answered: "answered", next: "next" }[item.state];
  return (
    <div class={`step next ${kind}`}>
      <Lines place={{ lane: 0, above: [], below: [0] }} lanes={lanes} kind={kind} />
      <span class="number" />
      <span class="words">
        <span class="first">
          <span class="node">{item.node}</span>
          <span class={`tag ${kind}`}>{NEXT_TAGS[item.state]}</span>
        </span>
        <span class="line">{item.text}</span>
      </span>
    </div>
  );
}

function GraphRow({ item, lanes }: { readonly item: GraphItem; readonly lanes: number }): JSX.Element {
  const { namespace, checkpoints, head, below } = item;
  return (
    <div class="step graph">
      <Lines place={{ lane: -1, above: below.map((lane) => [lane, lane] as const), below }} lanes={lanes} kind="" />
      <span class="number" aria-hidden="true">
        ▸
      </span>
      <span class="hidden">Nested graph </span>
      <span class="words">
        <span class="first">
          <span class="node">{namespace.join(" / ")}</span>
          {head.waiting > 0 && <span class="tag waiting">asks</span>}
        </span>
        <span class="line">
          {countText(checkpoints, "checkpoint")} of a nested graph, last {stepName(head)}
        </span>
      </span>
    </div>
  );
}

/** Draws the lines of a row: those from above, the checkpoint, those that leave below. */
function Lines({
  place,
  lanes,
  kind,
}: {
  readonly place: LanePlace;
  readonly lanes: number;
  readonly kind: string;
}): JSX.Element {
  const x = (lane: number): number => Math.min(lane, MOST_LANES - 1) * LANE + LANE / 2 + 4;
  const middle = ROW / 2;
  const curve = ([from, to]: readonly [number, number]): string =>
    from === to
      ? `M${x(from)} 0V${middle}`
      : `M${x(from)} 0C${x(from)} ${middle * 0.8} ${x(to)} ${middle * 0.2} ${x(to)} ${middle}`;
  return (
    <svg class="lines" width={lanes * LANE + 8} height={ROW} aria-hidden="true">
      {place.above.map((pair) => (
        <path key={`a${pair[0]}`} class={`lane lane-${pair[0] % 6}`} d={curve(pair)} />
      ))}
      {place.below.map((lane) => (
        <path
          key={`b${lane}`}
          class={`lane lane-${lane % 6} ${kind === "next" || kind === "failed" || kind === "waiting" || kind === "answered" ? "pending" : ""}`}
          d={`M${x(lane)} ${middle}V${ROW}`}
        />
      ))}
      {place.lane >= 0 && (
        <circle class={`point lane-${place.lane % 6} ${kind}`} cx={x(place.lane)} cy={middle} r="5" />
      )}
    </svg>
  );
}
