import { get } from "../api.js";
import { classes, html, useEffect, useMemo, useRef, useState } from "../dom.js";
import { ageText, countText, durationText, timeText } from "../parts/format.js";
import { placeInLanes } from "../parts/lanes.js";
import { VirtualList } from "../parts/virtual.js";
import { routeAddress } from "../route.js";

const ROW = 44;
const LANE = 16;
const MOST_LANES = 12;

/** Shows checkpoints, newest first, with lines to their parents, and nested graphs folded where they ran. */
export function Timeline({ history, thread, graphs, forks, route, onOpen }) {
  const { rows, more, loading, loadMore } = history;
  const { places, width } = useMemo(() => placeInLanes(rows), [rows]);
  const items = useMemo(() => withGraphs(rows, graphs), [rows, graphs]);
  const byId = useMemo(() => new Map(rows.map((row) => [row.id, row])), [rows]);
  const forksAt = useMemo(() => grouped(forks), [forks]);
  const marks = useMarks(route.thread, route.namespace, rows);
  const now = Date.now();
  const chosen = route.checkpoint ?? rows[0]?.id;
  const active = items.findIndex(({ index }) => index !== undefined && rows[index].id === chosen);
  const lanes = Math.min(width, MOST_LANES);

  if (rows.length === 0) return html`<p class="empty">${loading ? "…" : "No checkpoints."}</p>`;
  return html`
    <${VirtualList}
      id="timeline"
      label=${`Checkpoints, newest first; ${rows.length.toLocaleString("en")} loaded`}
      count=${items.length + (more ? 1 : 0)}
      rowHeight=${ROW}
      active=${active}
      onOpen=${(position, event) => {
        const item = items[position];
        if (item === undefined) loadMore();
        else if (item.graph) onOpen(undefined, event, item.graph.namespace);
        else onOpen(rows[item.index].id, event);
      }}
      onRange=${(first, last) => {
        if (more && last >= items.length - 50) loadMore();
        marks.look(items.slice(first, last + 1).flatMap(({ index }) => (index === undefined ? [] : [rows[index].id])));
      }}
      describe=${(position) => described(items[position], rows)}
      row=${(position) => {
        const item = items[position];
        if (item === undefined) return html`<span class="loading">older checkpoints …</span>`;
        if (item.graph)
          return html`<${GraphRow} graph=${item.graph} lanes=${lanes} through=${item.through.map((index) => places[index])[0]} />`;
        const info = rows[item.index];
        return html`
          <${CheckpointRow}
            info=${info}
            place=${places[item.index]}
            lanes=${lanes}
            parent=${byId.get(info.parent)}
            head=${item.index === 0}
            asks=${info.waiting > 0 || marks.known.get(info.id)?.asks}
            failed=${marks.known.get(info.id)?.failed || (item.index === 0 && thread?.status === "failed")}
            base=${route.base === info.id}
            forks=${forksAt.get(info.id) ?? []}
            now=${now}
          />
        `;
      }}
    />
  `;
}

function CheckpointRow({ info, place, lanes, parent, head, asks, failed, base, forks, now }) {
  const { step, node, source, label, pending, createdAt } = info;
  const took = parent === undefined ? "" : durationText(createdAt - parent.createdAt);
  return html`
    <div class=${classes({ step: true, base, failed, waiting: asks })}>
      <${Lines} place=${place} lanes=${lanes} kind=${failed ? "failed" : asks ? "waiting" : head && pending === 0 ? "done" : source} fork=${forks.length > 0} />
      <span class="number">${step}</span>
      <span class="node">${node ?? source}</span>
      <span class="marks">
        ${source !== "loop" && node !== null && html`<span class="tag">${source}</span>`}
        ${asks && html`<span class="tag waiting">asks</span>`}
        ${failed && html`<span class="tag failed">failed</span>`}
        ${base && html`<span class="tag">compared</span>`}
        ${label !== "" && html`<span class="tag label" title=${label}>${label}</span>`}
        ${forks.map(
          ({ thread }) => html`
            <a class="tag fork" href=${routeAddress({ thread })} title=${`forked here: ${thread}`} onClick=${(event) => event.stopPropagation()}>↳ ${thread}</a>
          `,
        )}
      </span>
      <span class="took" title="since its parent">${took}</span>
      <time class="when" title=${timeText(createdAt)}>${ageText(createdAt, now)}</time>
    </div>
  `;
}

function GraphRow({ graph, lanes, through }) {
  const { namespace, checkpoints, head } = graph;
  return html`
    <div class="step graph">
      <${Lines} place=${through && { above: through.below.map((lane) => [lane, lane]), below: through.below }} lanes=${lanes} />
      <span class="number">▸</span>
      <span class="node">${namespace.join(" / ")}</span>
      <span class="marks">
        <span class="tag">${countText(checkpoints, "checkpoint")}</span>
        ${head.waiting > 0 && html`<span class="tag waiting">asks</span>`}
      </span>
    </div>
  `;
}

/** Draws the lines of a row: those from above, the checkpoint, those that leave below. */
function Lines({ place, lanes, kind = "loop", fork = false }) {
  const x = (lane) => Math.min(lane, MOST_LANES - 1) * LANE + LANE / 2 + 2;
  const middle = ROW / 2;
  const wide = lanes * LANE + 4 + LANE;
  const curve = ([from, to]) =>
    from === to
      ? `M${x(from)} 0V${middle}`
      : `M${x(from)} 0C${x(from)} ${middle * 0.8} ${x(to)} ${middle * 0.2} ${x(to)} ${middle}`;
  const cx = place?.lane === undefined ? undefined : x(place.lane);
  return html`
    <svg class="lines" width=${wide} height=${ROW} aria-hidden="true">
      ${place?.above.map((pair) => html`<path class=${`lane lane-${pair[0] % 6}`} d=${curve(pair)} />`)}
      ${place?.below.map((lane) => html`<path class=${`lane lane-${lane % 6}`} d=${`M${x(lane)} ${middle}V${ROW}`} />`)}
      ${fork && cx !== undefined && html`<path class="lane branch" d=${`M${cx} ${middle}C${cx + 8} ${middle} ${cx + 8} ${middle} ${wide} ${middle - 10}`} />`}
      ${cx !== undefined && html`<circle class=${`point lane-${place.lane % 6} ${kind}`} cx=${cx} cy=${middle} r="5" />`}
    </svg>
  `;
}

/** Inserts each nested graph above the outer checkpoint that it ran after. */
function withGraphs(rows, graphs) {
  const waiting = graphs.toSorted((left, right) => right.head.seq - left.head.seq);
  const items = [];
  for (const [index, { seq }] of rows.entries()) {
    while (waiting.length > 0 && waiting[0].head.seq > seq) {
      items.push({ graph: waiting.shift(), through: index === 0 ? [] : [index - 1] });
    }
    items.push({ index });
  }
  for (const graph of waiting) items.push({ graph, through: rows.length === 0 ? [] : [rows.length - 1] });
  return items;
}

function grouped(forks) {
  const groups = new Map();
  for (const fork of forks) groups.set(fork.checkpoint, [...(groups.get(fork.checkpoint) ?? []), fork]);
  return groups;
}

function described(item, rows) {
  if (item === undefined) return "Older checkpoints";
  if (item.graph)
    return `Nested graph ${item.graph.namespace.join(" / ")}, ${countText(item.graph.checkpoints, "checkpoint")}`;
  const { step, node, source, label, waiting } = rows[item.index];
  return `Step ${step}, ${node ?? source}${waiting > 0 ? ", asks" : ""}${label === "" ? "" : `, label ${label}`}`;
}

/** Requests the marks, which come from writes, of the visible checkpoints. */
function useMarks(thread, namespace, rows) {
  const [known, setKnown] = useState(new Map());
  const wanted = useRef([]);
  const timer = useRef(undefined);
  const ask = () => {
    clearTimeout(timer.current);
    timer.current = setTimeout(async () => {
      const missing = wanted.current.filter((id) => !known.has(id)).slice(0, 100);
      if (missing.length === 0) return;
      const answer = await get("marks", { thread, namespace, checkpoints: missing }).catch(() => undefined);
      if (answer !== undefined) setKnown((before) => new Map([...before, ...Object.entries(answer.marks)]));
    }, 120);
  };
  const head = rows[0]?.id;
  useEffect(() => {
    // The head's writes change while its step runs.
    setKnown((before) => new Map([...before].filter(([id]) => id !== head)));
    ask();
    return () => clearTimeout(timer.current);
  }, [head]);
  return {
    known,
    look: (ids) => {
      wanted.current = ids;
      ask();
    },
  };
}
