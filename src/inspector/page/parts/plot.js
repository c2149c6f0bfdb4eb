import { html } from "../dom.js";
import { bytesText, timeText } from "./format.js";

const WIDTH = 720;
const HEIGHT = 200;
const LEFT = 64;
const BOTTOM = 24;
const TOP = 8;

/** Draws bytes over time as a line. Screen readers get a table instead. */
export function Plot({ points, label }) {
  const [first, last] = [points[0], points.at(-1)];
  const span = Math.max(1, last.at - first.at);
  const most = Math.max(1, last.bytes);
  const x = (at) => LEFT + ((at - first.at) / span) * (WIDTH - LEFT - 8);
  const y = (bytes) => TOP + (1 - bytes / most) * (HEIGHT - TOP - BOTTOM);
  const line = points
    .map(({ at, bytes }, index) => `${index === 0 ? "M" : "L"}${x(at).toFixed(1)} ${y(bytes).toFixed(1)}`)
    .join("");
  const area = `${line}L${x(last.at)} ${y(0)}L${x(first.at)} ${y(0)}Z`;
  return html`
    <svg class="plot" viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label=${`${label}: from ${bytesText(first.bytes)} to ${bytesText(last.bytes)}`}>
      ${[0, 0.5, 1].map(
        (part) => html`
          <line class="grid" x1=${LEFT} x2=${WIDTH - 8} y1=${y(most * part)} y2=${y(most * part)} />
          <text x=${LEFT - 6} y=${y(most * part) + 4} text-anchor="end">${bytesText(most * part)}</text>
        `,
      )}
      <path class="area" d=${area} />
      <path class="curve" d=${line} />
      <text x=${LEFT} y=${HEIGHT - 6}>${timeText(first.at)}</text>
      <text x=${WIDTH - 8} y=${HEIGHT - 6} text-anchor="end">${timeText(last.at)}</text>
    </svg>
  `;
}
