import { describe, expect, it } from "vitest";
import { compare } from "../../../bench/harness/compare.ts";
import { isMet, lineOf } from "../../../bench/harness/report.ts";
import { quantile } from "../../../bench/harness/timing.ts";
import { drawChart } from "../../../bench/output/chart.ts";
import { formatted } from "../../../bench/output/table.ts";

describe("a target", () => {
  const target = { part: "p", name: "a put", value: 2.5, limit: 2.2 };

  it("a target is met up to its limit, or with `least` from its limit on", () => {
    expect(isMet(target)).toBe(false);
    expect(isMet({ ...target, value: 2.2 })).toBe(true);
    expect(isMet({ ...target, least: true })).toBe(true);
    expect(isMet({ ...target, value: 2.1, least: true })).toBe(false);
  });

  it("a target that could not be measured is not met", () => {
    expect(isMet({ ...target, value: Number.NaN })).toBe(false);
    expect(isMet({ ...target, value: Number.NaN, least: true })).toBe(false);
  });

  it("a target says the ratio and the verdict in one line", () => {
    expect(lineOf(target)).toBe("  NOT MET  a put: 2.50 × (at most 2.20 ×)");
  });
});

it("two things are compared in turns, each call after its own preparation, the warm-up not counted", async () => {
  const calls: string[] = [];
  const found = await compare(
    { rounds: 2, warmUp: 1, batch: 2 },
    () => calls.push("ours"),
    async () => calls.push("other"),
    (side) => calls.push(`prepare ${side}`),
  );
  const other = ["prepare other", "other"];
  const ours = ["prepare ours", "ours"];
  const round = [...other, ...other, ...ours, ...ours];
  expect(calls).toEqual([...round, ...round, ...round]);
  expect([found.ours.count, found.other.count]).toEqual([4, 4]);
});

it("quantiles are of what was measured", () => {
  const values = Array.from({ length: 100 }, (_, index) => 100 - index);
  expect([quantile(values, 0.5), quantile(values, 0.99), quantile(values, 0)]).toEqual([51, 100, 1]);
});

it("numbers are written with their units", () => {
  expect([
    formatted(1_234.5, "µs"),
    formatted(0.051, "ms"),
    formatted(2.5e6, "bytes"),
    formatted(745, "bytes"),
  ]).toEqual(["1,235 µs", "0.051 ms", "2.50 MB", "745"]);
});

describe("a chart", () => {
  const chart = {
    title: "Time < bytes & more",
    x: "N",
    y: "time",
    label: (value: number): string => `${value}`,
    lines: [
      {
        name: "one",
        kind: "threadmark",
        points: [
          [100, 10],
          [10_000, 10],
        ],
      },
      {
        name: "other",
        kind: "floor",
        points: [
          [100, 10],
          [10_000, 1_000],
        ],
      },
    ],
  } as const;

  it("a chart has a line a system, powers of ten as ticks, and colours for light and dark pages", () => {
    const svg = drawChart(chart);
    expect(svg.match(/<path /g)).toHaveLength(2);
    for (const tick of ["100", "1,000", "10,000"]) expect(svg).toContain(`>${tick}</text>`);
    expect(svg).toContain("prefers-color-scheme:dark");
    expect(svg).toContain("Time &lt; bytes &amp; more");
  });

  it("a chart draws what does not change as level, and keeps names apart that end at one place", () => {
    const level = drawChart(chart).match(/<path class="threadmark0" d="M(\S+) (\S+)L(\S+) (\S+)"/);
    expect(level?.[2]).toBe(level?.[4]);
    const same = { ...chart, lines: chart.lines.map((line) => ({ ...line, points: chart.lines[0].points })) };
    const heights = [...drawChart(same).matchAll(/class="\w+ name" x="\S+" y="(\S+)"/g)].map((match) =>
      Number(match[1]),
    );
    expect(Math.abs((heights[0] ?? 0) - (heights[1] ?? 0))).toBeGreaterThanOrEqual(15);
  });
});
