import type { JSX } from "preact";
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { attributeTexts } from "../../../display/attributes-text.ts";
import { countText } from "../../../display/quantities.ts";
import type { ThreadFacts } from "../../api/answers.ts";
import { ThreadActions } from "../actions/thread.tsx";
import { get } from "../api.ts";
import { CheckpointPane } from "../checkpoint/pane.tsx";
import { refresh, useLive } from "../live.ts";
import { usePaneWidth } from "../parts/panes.tsx";
import { addressOfRoute, filtersOf, go, type PageRoute, replaceRoute, threadAddress } from "../route.ts";
import { GraphView } from "./graph.tsx";
import { TimeView } from "./time.tsx";
import { isOfNode, Timeline, usePosition, useTimeline } from "./timeline.tsx";

const SHAPES = [
  ["steps", "Steps"],
  ["graph", "Graph"],
  ["time", "Time"],
] as const;

const NO_FORKS: ThreadFacts["forks"] = [];

interface ThreadViewProps {
  readonly route: PageRoute;
  readonly readOnly: boolean;
  /** The application that the thread can be run on with. */
  readonly app: string | null;
  readonly notify: (text: string) => void;
}

/** Shows a thread: its facts, its checkpoints as a timeline, a graph or a waterfall, and the chosen checkpoint beside. */
export function ThreadView({ route, readOnly, app, notify }: ThreadViewProps): JSX.Element {
  const { thread: id, namespace } = route;
  const { value: facts, error } = useLive<ThreadFacts>("thread", { thread: id });
  const rows = useTimeline(id, namespace);
  const { position, index: newer } = usePosition(route, rows);
  const { width, bar } = usePaneWidth("timeline", 380, 260, 720);
  const jump = useRef<HTMLInputElement>(null);

  /** Where the last key led, until the page has followed: keys come faster than it is drawn. */
  const moved = useRef<number | undefined>(undefined);
  useEffect(() => {
    moved.current = undefined;
  }, [position]);

  /** Opens the next checkpoint in the timeline, older or newer. */
  const move = (step: 1 | -1): void => {
    for (let index = (moved.current ?? position) + step; index >= 0 && index < rows.total; index += step) {
      const item = rows.at(index);
      if (item === undefined) return;
      if (item.kind !== "checkpoint" || (route.node !== undefined && !isOfNode(item, route.node))) continue;
      moved.current = index;
      replaceRoute({ ...route, checkpoint: item.id, path: undefined });
      return;
    }
  };
  useEffect(() => {
    const press = (event: Event): void => {
      const { key } = (event as CustomEvent<{ key: string }>).detail;
      if (key === "j") move(1);
      else if (key === "k") move(-1);
      else if (key === "g") jump.current?.focus();
    };
    addEventListener("page-key", press);
    return () => removeEventListener("page-key", press);
  });

  const latest = useRef(move);
  latest.current = move;
  const stableMove = useCallback((step: 1 | -1) => latest.current(step), []);
  const forks = facts?.forks ?? NO_FORKS;
  // Scrolling the timeline must not draw the checkpoint again.
  const pane = useMemo(
    () => (
      <CheckpointPane
        route={route}
        readOnly={readOnly}
        app={app}
        head={rows.head}
        forks={forks}
        notify={notify}
        onMove={stableMove}
      />
    ),
    [route, readOnly, app, rows.head, forks],
  );
  const missing = error ?? (rows.total === 0 ? rows.error : undefined);
  if (missing !== undefined)
    return (
      <section class="pane thread-pane alone" aria-label={`Thread ${id}`}>
        <div class="nothing">
          <h1>{id}</h1>
          <p role="alert">{missing.message}</p>
          <a href={addressOfRoute({ ...filtersOf(route), view: "overview" })}>To the overview</a>
        </div>
      </section>
    );
  const thread = facts?.thread;
  return (
    <>
      <section class="pane thread-pane" aria-label={`Thread ${id}`} style={{ "--pane": `${width}px` }}>
        <div class="title">
          <a
            class="back"
            href={addressOfRoute({ ...filtersOf(route), view: "threads" })}
            aria-label="Back to the threads"
          >
            ‹
          </a>
          <h1 title={id}>{id}</h1>
          {thread && <span class={`status ${thread.status}`}>{thread.status}</span>}
          <div class="actions">
            {thread && (
              <ThreadActions thread={thread} route={route} readOnly={readOnly} notify={notify} onDone={refresh} />
            )}
          </div>
        </div>
        <p class="about">
          {thread?.workflow && <span>{thread.workflow}</span>}
          <span>{thread ? countText(thread.checkpoints, "checkpoint") : " "}</span>
          {thread?.forkedFrom && (
            <span>
              forked from{" "}
              <a
                href={threadAddress(route, thread.forkedFrom.thread, {
                  checkpoint: thread.forkedFrom.checkpoint ?? undefined,
                })}
              >
                {thread.forkedFrom.thread}
              </a>
              {" · "}
              <a
                href={addressOfRoute({
                  ...filtersOf(route),
                  view: "compare",
                  thread: thread.forkedFrom.thread,
                  other: id,
                })}
              >
                compare
              </a>
            </span>
          )}
          {attributeTexts(thread?.attributes ?? {}).map((text) => (
            <span key={text} class="attribute">
              {text}
            </span>
          ))}
          {namespace.length > 0 && (
            <span>
              in <b>{namespace.join(" / ")}</b> · <a href={threadAddress(route, id)}>to the outer graph</a>
            </span>
          )}
        </p>
        <div class="shapes">
          <div class="segments" role="group" aria-label="How the thread is drawn">
            {SHAPES.map(([shape, name]) => (
              <button
                key={shape}
                type="button"
                aria-pressed={route.shape === shape}
                onClick={() => replaceRoute({ ...route, shape })}
              >
                {name}
              </button>
            ))}
          </div>
          <JumpTo route={route} input={jump} notify={notify} />
          {route.node !== undefined && (
            <button
              type="button"
              class="chip"
              aria-pressed="true"
              onClick={() => replaceRoute({ ...route, node: undefined })}
            >
              {route.node} ×
            </button>
          )}
        </div>
        {route.shape === "graph" ? (
          <GraphView route={route} head={rows.head} />
        ) : route.shape === "time" ? (
          <TimeView route={route} head={rows.head} />
        ) : rows.total === 0 ? (
          <p class="skeleton" />
        ) : (
          <Timeline
            rows={rows}
            position={position}
            forks={forks}
            route={route}
            onOpen={(checkpoint, event, inside = namespace) => {
              const shown = route.checkpoint ?? rows.head;
              if (event.shiftKey && checkpoint !== undefined && shown !== undefined)
                go({ ...route, checkpoint: shown, base: checkpoint, tab: "changes", path: undefined });
              else go({ ...route, namespace: inside, checkpoint, base: undefined, path: undefined });
            }}
          />
        )}
        {rows.checkpoints > 1 && <Scrubber route={route} count={rows.checkpoints} newer={newer} />}
      </section>
      {bar}
      {pane}
    </>
  );
}

/** Shows a slider over all checkpoints: the oldest on the left, the newest on the right. Dragging it replays the thread. */
function Scrubber({
  route,
  count,
  newer,
}: {
  readonly route: PageRoute;
  readonly count: number;
  readonly newer: number;
}): JSX.Element {
  const [dragged, setDragged] = useState<number | undefined>(undefined);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const { thread, namespace } = route;
  const open = async (at: number): Promise<void> => {
    const { checkpoint } = await get<{ checkpoint: string }>("timeline/position", {
      thread,
      namespace,
      index: count - 1 - at,
    });
    replaceRoute({ ...route, checkpoint, path: undefined });
    setDragged(undefined);
  };
  return (
    <input
      class="scrubber"
      type="range"
      min="0"
      max={String(count - 1)}
      value={dragged ?? count - 1 - Math.max(0, newer)}
      aria-label="Replay: the open checkpoint, oldest to newest"
      onInput={(event) => {
        const at = Number(event.currentTarget.value);
        setDragged(at);
        clearTimeout(timer.current);
        timer.current = setTimeout(() => void open(at), 60);
      }}
    />
  );
}

function JumpTo({
  route,
  input,
  notify,
}: {
  readonly route: PageRoute;
  readonly input: { current: HTMLInputElement | null };
  readonly notify: (text: string) => void;
}): JSX.Element {
  const [text, setText] = useState("");
  const { thread, namespace } = route;
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (text.trim() === "") return;
    try {
      const { checkpoint } = await get<{ checkpoint: string }>("timeline/position", {
        thread,
        namespace,
        step: text.trim(),
      });
      setText("");
      // The keys that move from step to step work at once.
      input.current?.blur();
      go({ ...route, checkpoint, base: undefined, path: undefined });
    } catch (error) {
      notify(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <form class="jump" onSubmit={(event) => void submit(event)}>
      <input
        ref={input}
        inputMode="numeric"
        placeholder="step"
        aria-label="Jump to a step"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
    </form>
  );
}
