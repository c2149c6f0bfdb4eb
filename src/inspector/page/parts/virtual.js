import { html, useEffect, useLayoutEffect, useRef, useState } from "../dom.js";

const MARGIN = 8;

/**
 * Shows a list of which only the visible rows exist. It is a single tab stop; arrows, Page Up and Down, Home and End
 * move, Enter opens.
 *
 * `active` is the index of the chosen row, `row(index)` returns its content, `onRange(first, last)` receives the
 * visible range.
 */
export function VirtualList({ id, label, count, rowHeight, active, row, onOpen, onRange, onKey, describe }) {
  const list = useRef(null);
  const [scroll, setScroll] = useState({ top: 0, height: 600 });
  const [focus, setFocus] = useState(Math.max(0, active));
  const first = Math.max(0, Math.floor(scroll.top / rowHeight) - MARGIN);
  const last = Math.min(count - 1, Math.ceil((scroll.top + scroll.height) / rowHeight) + MARGIN);

  useLayoutEffect(() => {
    const element = list.current;
    const measure = () => setScroll({ top: element.scrollTop, height: element.clientHeight });
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
    if (active >= 0) {
      setFocus(active);
      reveal(active);
    }
  }, [active]);

  const reveal = (index) => {
    const element = list.current;
    const [top, bottom] = [index * rowHeight, (index + 1) * rowHeight];
    if (top < element.scrollTop) element.scrollTop = top;
    else if (bottom > element.scrollTop + element.clientHeight) element.scrollTop = bottom - element.clientHeight;
  };
  const page = Math.max(1, Math.floor(scroll.height / rowHeight) - 1);
  const moves = { ArrowUp: -1, ArrowDown: 1, PageUp: -page, PageDown: page, Home: -count, End: count };
  const press = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target !== list.current) return;
    if (event.key in moves) {
      const next = Math.min(count - 1, Math.max(0, focus + moves[event.key]));
      setFocus(next);
      reveal(next);
      onKey?.(event.key, next);
    } else if (event.key === "Enter" || event.key === " ") onOpen(focus, event);
    else return;
    event.preventDefault();
  };

  const rows = [];
  for (let index = first; index <= last; index += 1) {
    rows.push(html`
      <div
        key=${index}
        id=${`${id}-${index}`}
        class="row"
        role="option"
        aria-selected=${index === active}
        aria-setsize=${count}
        aria-posinset=${index + 1}
        aria-label=${describe?.(index)}
        data-focus=${index === focus}
        style=${{ top: `${index * rowHeight}px`, height: `${rowHeight}px` }}
        onClick=${(event) => {
          setFocus(index);
          onOpen(index, event);
        }}
      >
        ${row(index)}
      </div>
    `);
  }
  return html`
    <div
      ref=${list}
      id=${id}
      class="virtual"
      role="listbox"
      tabindex="0"
      aria-label=${label}
      aria-activedescendant=${focus >= first && focus <= last ? `${id}-${focus}` : undefined}
      onKeyDown=${press}
    >
      <div class="runway" role="presentation" style=${{ height: `${count * rowHeight}px` }}>${rows}</div>
    </div>
  `;
}
