import type { JSX } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { bytesText } from "../../../display/quantities.ts";

const HEIGHT = 200;
const LEFT = 64;
const BOTTOM = 24;
const TOP = 8;

interface Point {
  readonly at: number;
  readonly bytes: number;
}

/** Draws bytes over time as a line, as wide as there is room. Screen readers get the first and the last. */
export function Plot({ points, label }: { readonly points: readonly Point[]; readonly label: string }): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(720);
  useLayoutEffect(() => {
    const element = box.current!;
    const observer = new ResizeObserver(() => setWidth(Math.max(240, Math.min(1_000, element.clientWidth))));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const [first, last] = [points[0]!, points.at(-1)!];
  const span = Math.max(1, last.at - first.at);
  const most = Math.max(1, last.bytes);
  const x = (at: number): number => LEFT + ((at - first.at) / span) * (width - LEFT - 8);
  const y = (bytes: number): number => TOP + (1 - bytes / most) * (HEIGHT - TOP - BOTTOM);
  const line = points
    .map(({ at, bytes }, index) => `${index === 0 ? "M" : "L"}${x(at).toFixed(1)} ${y(bytes).toFixed(1)}`)
    .join("");
  const area = `${line}L${x(last.at)} ${y(0)}L${x(first.at)} ${y(0)}Z`;
  const time = (at: number): string =>
    width < 500 ? new Date(at).toLocaleDateString() : new Date(at).toLocaleString();
  return (
    <div ref={box} class="plot-box">
      <svg
        class="plot"
        width={width}
        height={HEIGHT}
        viewBox={`0 0 ${width} ${HEIGHT}`}
        role="img"
        aria-label={`${label}: from ${bytesText(first.bytes)} to ${bytesText(last.bytes)}`}
      >
        {[0, 0.5, 1].map((part) => (
          <g key={part}>
            <line class="grid" x1={LEFT} x2={width - 8} y1={y(most * part)} y2={y(most * part)} />
            <text x={LEFT - 6} y={y(most * part) + 4} text-anchor="end">
              {bytesText(most * part)}
            </text>
          </g>
        ))}
        <path class="area" d={area} />
        <path class="curve" d={line} />
        <text x={LEFT} y={HEIGHT - 6}>
          {time(first.at)}
        </text>
        <text x={width - 8} y={HEIGHT - 6} text-anchor="end">
          {time(last.at)}
        </text>
      </svg>
    </div>
  );
}
