/** A length of time: milliseconds, or a number with its unit, as in "90s", "30min", "12h", "7d" or "2w". */
export type Duration = number | `${number}${"ms" | "s" | "m" | "min" | "h" | "d" | "w"}`;

const units: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
};

/** Returns the milliseconds that a text means; undefined where it is no length of time. */
export function parseDuration(text: string): number | undefined {
  const [, number, unit = ""] = /^(\d+(?:\.\d+)?)\s*([a-z]+)$/.exec(text) ?? [];
  const factor = Object.hasOwn(units, unit) ? units[unit] : undefined;
  return number === undefined || factor === undefined ? undefined : Number(number) * factor;
}

/** Returns the milliseconds of a length of time; undefined where it is none. */
export function millisecondsOf(duration: unknown): number | undefined {
  if (typeof duration === "string") return parseDuration(duration);
  return typeof duration === "number" && Number.isFinite(duration) && duration >= 0 ? duration : undefined;
}
