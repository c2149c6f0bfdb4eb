import type { ComponentChildren, JSX, RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

const MARGIN = 300;

/** Moves a flow from outside. */
export interface FlowHandle {
  reveal(index: number): void;
}

interface VirtualFlowProps {
  readonly count: number;
  /** The height of a row that was not measured yet. */
  readonly estimate: number;
  readonly keyOf: (index: number) => string;
  readonly row: (index: number) => ComponentChildren;
  readonly class?: string;
  readonly role?: "tree" | "log";
  readonly label?: string;
  readonly handle?: RefObject<FlowHandle | null>;
  /** Begin at the last row, and stay there while rows are added. */
  readonly fromEnd?: boolean;
  readonly onRange?: (first: number, last: number) => void;
  readonly onKeyDown?: (event: KeyboardEvent) => void;
  readonly tabIndex?: number;
}

/**
 * Shows rows of any height, of which only the visible ones exist. Heights are measured as rows appear; the rows in sight
 * stay where they are when rows above them turn out higher or lower than estimated.
 */
export function VirtualFlow(props: VirtualFlowProps): JSX.Element {
  const { count, estimate, keyOf, row, handle, fromEnd = false, onRange } = props;
  const box = useRef<HTMLDivElement>(null);
  const heights = useRef(new Map<string, number>());
  const isAtEnd = useRef(fromEnd);
  const [, setVersion] = useState(0);
  const [scroll, setScroll] = useState({ top: fromEnd ? Number.MAX_SAFE_INTEGER : 0, height: 600 });
  const redraw = (): void => setVersion((version) => version + 1);

  const tops = new Float64Array(count + 1);
  for (let index = 0; index < count; index += 1)
    tops[index + 1] = tops[index]! + (heights.current.get(keyOf(index)) ?? estimate);
  const total = tops[count]!;
  const top = Math.max(0, Math.min(scroll.top, total - scroll.height));
  const first = Math.max(0, indexAt(tops, count, top - MARGIN));
  const last = Math.min(count - 1, indexAt(tops, count, top + scroll.height + MARGIN));

  useLayoutEffect(() => {
    const element = box.current!;
    const measure = (): void => {
      isAtEnd.current = element.scrollTop + element.clientHeight >= element.scrollHeight - 4;
      setScroll((before) =>
        before.top === element.scrollTop && before.height === element.clientHeight
          ? before
          : { top: element.scrollTop, height: element.clientHeight },
      );
    };
    const observer = new ResizeObserver(() => {
      if (isAtEnd.current && fromEnd) element.scrollTop = element.scrollHeight;
      measure();
    });
    observer.observe(element);
    element.addEventListener("scroll", measure, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", measure);
    };
  }, []);

  // Rows are measured after they were drawn, and again whenever their size changes.
  const rows = useRef<ResizeObserver | null>(null);
  useLayoutEffect(() => {
    const element = box.current!;
    const note = (): void => {
      let shift = 0;
      let isChanged = false;
      for (const child of element.querySelectorAll<HTMLElement>(":scope > .flow-rows > [data-key]")) {
        const [key, height] = [child.dataset["key"]!, child.offsetHeight];
        const before = heights.current.get(key) ?? estimate;
        if (before === height && heights.current.has(key)) continue;
        heights.current.set(key, height);
        if (before === height) continue;
        isChanged = true;
        if (child.offsetTop + before <= element.scrollTop) shift += height - before;
      }
      if (!isChanged) return;
      redraw();
      if (shift !== 0 && !(isAtEnd.current && fromEnd)) element.scrollTop += shift;
    };
    note();
    rows.current ??= new ResizeObserver(note);
    const observer = rows.current;
    for (const child of element.querySelectorAll(":scope > .flow-rows > [data-key]")) observer.observe(child);
    if (isAtEnd.current && fromEnd) element.scrollTop = element.scrollHeight;
  });
  useEffect(() => () => rows.current?.disconnect(), []);
  useEffect(() => onRange?.(first, last), [first, last, count]);
  if (handle !== undefined)
    handle.current = {
      reveal: (index) => {
        isAtEnd.current = false;
        const element = box.current!;
        const [from, to] = [tops[index] ?? 0, tops[index + 1] ?? 0];
        if (from < element.scrollTop) element.scrollTop = Math.max(0, from - 20);
        else if (to > element.scrollTop + element.clientHeight) element.scrollTop = to - element.clientHeight + 20;
      },
    };

  const shown: JSX.Element[] = [];
  for (let index = first; index <= last; index += 1) {
    const key = keyOf(index);
    shown.push(
      <div key={key} data-key={key} class="flow-row" role="presentation">
        {row(index)}
      </div>,
    );
  }
  return (
    <div
      ref={box}
      class={`flow ${props.class ?? ""}`}
      role={props.role}
      aria-label={props.label}
      tabIndex={props.tabIndex}
      onKeyDown={props.onKeyDown}
    >
      <div
        class="flow-rows"
        role="presentation"
        style={{
          paddingTop: `${tops[first] ?? 0}px`,
          paddingBottom: `${Math.max(0, total - (tops[last + 1] ?? total))}px`,
        }}
      >
        {shown}
      </div>
    </div>
  );
}

/** Returns the row at a height, by halving. */
function indexAt(tops: Float64Array, count: number, at: number): number {
  let [low, high] = [0, Math.max(0, count - 1)];
  while (low < high) {
    const middle = Math.floor((low + high + 1) / 2);
    if (tops[middle]! <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}
