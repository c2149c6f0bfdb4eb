import type { ComponentChildren, JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

const MARGIN = 8;

interface VirtualListProps {
  readonly id: string;
  readonly label: string;
  readonly count: number;
  readonly rowHeight: number;
  /** The index of the chosen row, or -1. */
  readonly active: number;
  /** The identity of the chosen row. The list moves to another row, not to where the same row has gone. */
  readonly activeKey?: string | undefined;
  readonly row: (index: number) => ComponentChildren;
  readonly onOpen: (index: number, event: MouseEvent | KeyboardEvent) => void;
  /** Receives the visible range. */
  readonly onRange?: (first: number, last: number) => void;
}

/**
 * Shows a list of which only the visible rows exist. It is a single tab stop; arrows, Page Up and Down, Home and End
 * move, Enter opens.
 */
export function VirtualList({
  id,
  label,
  count,
  rowHeight,
  active,
  activeKey,
  row,
  onOpen,
  onRange,
}: VirtualListProps): JSX.Element {
  const list = useRef<HTMLDivElement>(null);
  const [scroll, setScroll] = useState({ top: 0, height: 600 });
  const [focus, setFocus] = useState(Math.max(0, active));
  const first = Math.max(0, Math.floor(scroll.top / rowHeight) - MARGIN);
  const last = Math.min(count - 1, Math.ceil((scroll.top + scroll.height) / rowHeight) + MARGIN);

  useLayoutEffect(() => {
    const element = list.current!;
    const measure = (): void =>
      setScroll((before) =>
        before.top === element.scrollTop && before.height === element.clientHeight
          ? before
          : { top: element.scrollTop, height: element.clientHeight },
      );
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    element.addEventListener("scroll", measure, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", measure);
    };
  }, []);
  useEffect(() => onRange?.(first, last), [first, last, count]);
  useEffect(() => {
    if (active < 0 || active >= count) return;
    setFocus(active);
    reveal(active);
  }, [activeKey ?? active, active >= 0 && active < count]);
  // Rows that come in above leave the rows in sight where they are.
  const earlier = useRef({ key: activeKey, active });
  useLayoutEffect(() => {
    const { key, active: before } = earlier.current;
    earlier.current = { key: activeKey, active };
    const element = list.current!;
    if (activeKey === undefined || key !== activeKey || before < 0 || active < 0 || element.scrollTop === 0) return;
    element.scrollTop += (active - before) * rowHeight;
    setFocus((focus) => focus + active - before);
  }, [active, activeKey]);

  const reveal = (index: number): void => {
    const element = list.current!;
    const [top, bottom] = [index * rowHeight, (index + 1) * rowHeight];
    const isFar =
      bottom < element.scrollTop - element.clientHeight || top > element.scrollTop + 2 * element.clientHeight;
    if (isFar) element.scrollTop = top - element.clientHeight / 3;
    else if (top < element.scrollTop) element.scrollTop = top;
    else if (bottom > element.scrollTop + element.clientHeight) element.scrollTop = bottom - element.clientHeight;
  };
  const page = Math.max(1, Math.floor(scroll.height / rowHeight) - 1);
  const moves: Readonly<Record<string, number>> = {
    ArrowUp: -1,
    ArrowDown: 1,
    PageUp: -page,
    PageDown: page,
    Home: -count,
    End: count,
  };
  const press = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target !== list.current) return;
    const move = moves[event.key];
    if (move !== undefined) {
      const next = Math.min(count - 1, Math.max(0, focus + move));
      setFocus(next);
      reveal(next);
    } else if (event.key === "Enter" || event.key === " ") onOpen(focus, event);
    else return;
    event.preventDefault();
  };

  const rows: JSX.Element[] = [];
  for (let index = first; index <= last; index += 1) {
    rows.push(
      <div
        key={index}
        id={`${id}-${index}`}
        class="row"
        role="option"
        aria-selected={index === active}
        aria-setsize={count}
        aria-posinset={index + 1}
        data-focus={index === focus}
        style={{ transform: `translateY(${index * rowHeight}px)`, height: `${rowHeight}px` }}
        onClick={(event) => {
          setFocus(index);
          onOpen(index, event);
        }}
      >
        {row(index)}
      </div>,
    );
  }
  return (
    <div
      ref={list}
      id={id}
      class="virtual"
      role="listbox"
      tabIndex={0}
      aria-label={label}
      aria-activedescendant={count > 0 && focus >= first && focus <= last ? `${id}-${focus}` : undefined}
      onKeyDown={press}
    >
      <div class="runway" role="presentation" style={{ height: `${count * rowHeight}px` }}>
        {rows}
      </div>
    </div>
  );
}
