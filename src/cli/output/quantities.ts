import { bytesText } from "../../display/quantities.ts";

export { bytesText, countText } from "../../display/quantities.ts";

const AGES = [
  [60, "s"],
  [60, "min"],
  [24, "h"],
  [Number.POSITIVE_INFINITY, "d"],
] as const;

/** Formats an age for people: "now", "5 min ago"; after a month the date. */
export function ageText(at: number, now: number): string {
  let amount = Math.round((now - at) / 1000);
  if (amount < 2) return amount > -2 ? "now" : dateText(at);
  if (amount > 30 * 24 * 3600) return dateText(at).slice(0, 10);
  for (const [size, unit] of AGES) {
    if (amount < size) return `${amount} ${unit} ago`;
    amount = Math.round(amount / size);
  }
  return dateText(at);
}

/** Formats the bytes that a store took before and after a work; undefined where its medium does not tell them. */
export function changeText(before: number | null, after: number | null): string | undefined {
  return before === null || after === null ? undefined : `${bytesText(before)} before, ${bytesText(after)} after.`;
}

/** Formats a time in this machine's zone: "2026-11-15 23:04:11". */
export function dateText(at: number): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return String(at);
  const two = (part: number): string => String(part).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}
