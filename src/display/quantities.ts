const UNITS = ["bytes", "kB", "MB", "GB", "TB"] as const;

/** Formats bytes for people: "812 bytes", "1.4 MB". */
export function bytesText(bytes: number): string {
  let amount = bytes;
  let unit = 0;
  while (Math.abs(amount) >= 999.5 && unit < UNITS.length - 1) {
    amount /= 1000;
    unit += 1;
  }
  return `${amount.toFixed(unit === 0 || Math.abs(amount) >= 99.5 ? 0 : 1)} ${UNITS[unit]}`;
}

/** Formats a count with its noun: "1 thread", "2,000 threads". */
export function countText(count: number, noun: string): string {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

/** Formats an age in as few characters as a narrow column has: "now", "12s", "5m", "3h", "2d", then the date. */
export function shortAge(at: number, now: number): string {
  const seconds = Math.max(0, Math.round((now - at) / 1000));
  if (seconds < 5) return "now";
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.round(seconds / 60)}m`;
  if (seconds < 86_400) return `${Math.round(seconds / 3600)}h`;
  if (seconds < 30 * 86_400) return `${Math.round(seconds / 86_400)}d`;
  return new Date(at).toISOString().slice(0, 10);
}

/** Formats an age in words: "just now", "5 minutes ago". */
export function ageText(at: number, now: number): string {
  const seconds = Math.max(0, Math.round((now - at) / 1000));
  if (seconds < 5) return "just now";
  if (seconds < 60) return `${countText(seconds, "second")} ago`;
  if (seconds < 3600) return `${countText(Math.round(seconds / 60), "minute")} ago`;
  if (seconds < 86_400) return `${countText(Math.round(seconds / 3600), "hour")} ago`;
  if (seconds < 30 * 86_400) return `${countText(Math.round(seconds / 86_400), "day")} ago`;
  return new Date(at).toISOString().slice(0, 10);
}

/** Formats a duration: "12 ms", "1.4 s", "3 min 20 s", "2 h 5 min". Empty for a negative one, which clocks can give. */
export function durationText(milliseconds: number): string {
  if (!(milliseconds >= 0)) return "";
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 59_950) return `${(milliseconds / 1000).toFixed(1)} s`;
  const seconds = Math.round(milliseconds / 1000);
  if (seconds < 3600) return joined(Math.floor(seconds / 60), "min", seconds % 60, "s");
  const minutes = Math.round(seconds / 60);
  if (minutes < 24 * 60) return joined(Math.floor(minutes / 60), "h", minutes % 60, "min");
  const hours = Math.round(minutes / 60);
  return joined(Math.floor(hours / 24), "d", hours % 24, "h");
}

function joined(whole: number, unit: string, rest: number, smaller: string): string {
  return rest === 0 ? `${whole} ${unit}` : `${whole} ${unit} ${rest} ${smaller}`;
}

/** Formats a path in a state as people write it: messages[0].text */
export function pathText(path: readonly (string | number)[]): string {
  let text = "";
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`;
    else if (/^[A-Za-z_$][\w$-]*$/.test(step)) text += text === "" ? step : `.${step}`;
    else text += `[${JSON.stringify(step)}]`;
  }
  return text;
}
