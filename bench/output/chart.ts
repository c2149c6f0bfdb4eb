/** A line of a chart: a name, how it is drawn, and its points. */
export interface Line {
  readonly name: string;
  readonly kind: "threadmark" | "peer" | "floor";
  readonly points: readonly (readonly [x: number, y: number])[];
}

export interface Chart {
  readonly title: string;
  readonly x: string;
  readonly y: string;
  readonly lines: readonly Line[];
  /** How a value of the vertical axis is written. */
  label(value: number): string;
}

const width = 900;
const height = 460;
const area = { left: 74, right: 580, top: 56, bottom: 400 };
/** Names stand at the ends of their lines, at least so far apart. */
const lineHeight = 17;

/** Each kind has colours of its own: two tones, for light and for dark pages. */
const colours: Record<Line["kind"], readonly (readonly [light: string, dark: string])[]> = {
  threadmark: [
    ["#1d4ed8", "#60a5fa"],
    ["#0f766e", "#2dd4bf"],
    ["#6d28d9", "#a78bfa"],
    ["#0369a1", "#38bdf8"],
    ["#15803d", "#4ade80"],
    ["#4338ca", "#818cf8"],
  ],
  peer: [
    ["#c2410c", "#fb923c"],
    ["#be185d", "#f472b6"],
    ["#a16207", "#facc15"],
  ],
  floor: [
    ["#4b5563", "#9ca3af"],
    ["#78716c", "#d6d3d1"],
    ["#334155", "#94a3b8"],
  ],
};

interface Scale {
  readonly ticks: readonly number[];
  at(value: number): number;
}

/** Powers of ten around the values, from one end of the axis to the other. */
function logarithmic(values: readonly number[], from: number, to: number): Scale {
  const first = Math.floor(Math.log10(Math.min(...values)));
  const last = Math.max(first + 1, Math.ceil(Math.log10(Math.max(...values))));
  const ticks = Array.from({ length: last - first + 1 }, (_, index) => 10 ** (first + index));
  return { ticks, at: (value) => from + ((Math.log10(value) - first) / (last - first)) * (to - from) };
}

/** Moves names apart that would cover each other, and keeps their order. */
function spread(wanted: readonly number[]): number[] {
  const order = wanted.map((_, index) => index).sort((a, b) => (wanted[a] as number) - (wanted[b] as number));
  const places = [...wanted];
  let least = area.top;
  for (const index of order) {
    places[index] = Math.max(places[index] as number, least);
    least = (places[index] as number) + lineHeight;
  }
  const over = least - lineHeight - area.bottom;
  if (over <= 0) return places;
  let most = area.bottom;
  for (const index of order.toReversed()) {
    places[index] = Math.min(places[index] as number, most);
    most = (places[index] as number) - lineHeight;
  }
  return places;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function style(count: Record<Line["kind"], number>): string {
  const tones = (index: 0 | 1): string =>
    (Object.keys(colours) as Line["kind"][])
      .flatMap((kind) =>
        colours[kind]
          .slice(0, count[kind])
          .map((tone, number) => `.${kind}${number}{stroke:${tone[index]};fill:${tone[index]}}`),
      )
      .join("");
  return [
    "text{font:13px system-ui,sans-serif;stroke:none}",
    ".page{fill:#fff}.ink{fill:#1f2937}.grid{stroke:#e5e7eb}.title{font-size:15px;font-weight:600}",
    "path{fill:none!important;stroke-width:2.2}.dashed{stroke-dasharray:6 4}text.name{stroke:none!important}",
    tones(0),
    `@media(prefers-color-scheme:dark){.page{fill:#0d1117}.ink{fill:#d1d5db}.grid{stroke:#2b313a}${tones(1)}}`,
  ].join("");
}

const tenth = (value: number): string => value.toFixed(1);

/** Log-log, one line a system, readable on light and dark pages. */
export function drawChart({ title, x, y, lines, label }: Chart): string {
  const all = lines.flatMap(({ points }) => points);
  const [across, down] = [
    logarithmic(
      all.map(([value]) => value),
      area.left,
      area.right,
    ),
    logarithmic(
      all.map(([, value]) => value),
      area.bottom,
      area.top,
    ),
  ];
  const count = { threadmark: 0, peer: 0, floor: 0 };
  const parts: string[] = [];
  for (const tick of across.ticks) {
    const at = tenth(across.at(tick));
    parts.push(`<line class="grid" x1="${at}" x2="${at}" y1="${area.top}" y2="${area.bottom}"/>`);
    const text = tick.toLocaleString("en");
    parts.push(`<text class="ink" x="${at}" y="${area.bottom + 20}" text-anchor="middle">${text}</text>`);
  }
  for (const tick of down.ticks) {
    const at = tenth(down.at(tick));
    parts.push(`<line class="grid" x1="${area.left}" x2="${area.right}" y1="${at}" y2="${at}"/>`);
    parts.push(`<text class="ink" x="${area.left - 8}" y="${Number(at) + 4}" text-anchor="end">${label(tick)}</text>`);
  }
  const ends = lines.map(({ points }) => down.at((points.at(-1) as readonly [number, number])[1]));
  const places = spread(ends);
  for (const [index, { name, kind, points }] of lines.entries()) {
    const tone = `${kind}${count[kind] % colours[kind].length}`;
    count[kind] += 1;
    const dashed = kind === "floor" ? " dashed" : "";
    const at = points.map(([left, up]) => [tenth(across.at(left)), tenth(down.at(up))] as const);
    parts.push(`<path class="${tone}${dashed}" d="M${at.map(([left, up]) => `${left} ${up}`).join("L")}"/>`);
    for (const [left, up] of at) parts.push(`<circle class="${tone}" cx="${left}" cy="${up}" r="3"/>`);
    const [left, up] = at.at(-1) as readonly [string, string];
    const place = places[index] as number;
    parts.push(
      `<line class="${tone}" stroke-opacity=".35" x1="${left}" y1="${up}" x2="${area.right + 10}" y2="${tenth(place)}"/>`,
      `<text class="${tone} name" x="${area.right + 14}" y="${tenth(place + 4)}">${escaped(name)}</text>`,
    );
  }
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(title)}">`,
    `<style>${style({ threadmark: 6, peer: 3, floor: 3 })}</style>`,
    `<rect class="page" width="${width}" height="${height}"/>`,
    `<text class="ink title" x="${area.left}" y="26">${escaped(title)}</text>`,
    `<text class="ink" x="${area.left}" y="45">${escaped(y)}</text>`,
    `<text class="ink" x="${(area.left + area.right) / 2}" y="${area.bottom + 44}" text-anchor="middle">${escaped(x)}</text>`,
    ...parts,
    "</svg>\n",
  ].join("\n");
}
