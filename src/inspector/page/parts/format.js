const UNITS = ["bytes", "kB", "MB", "GB", "TB"];

export function bytesText(bytes) {
  let amount = bytes;
  let unit = 0;
  while (Math.abs(amount) >= 999.5 && unit < UNITS.length - 1) {
    amount /= 1000;
    unit += 1;
  }
  return `${amount.toFixed(unit === 0 || Math.abs(amount) >= 99.5 ? 0 : 1)} ${UNITS[unit]}`;
}

export function countText(count, noun) {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

export function ageText(at, now) {
  const seconds = Math.round((now - at) / 1000);
  if (seconds < 5) return "now";
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3600) return `${Math.round(seconds / 60)} min ago`;
  if (seconds < 86400) return `${Math.round(seconds / 3600)} h ago`;
  if (seconds < 30 * 86400) return `${Math.round(seconds / 86400)} d ago`;
  return new Date(at).toLocaleDateString();
}

/** Formats how long a step took. */
export function durationText(milliseconds) {
  if (milliseconds < 0) return "";
  if (milliseconds < 1000) return `${milliseconds} ms`;
  if (milliseconds < 60_000) return `${(milliseconds / 1000).toFixed(1)} s`;
  if (milliseconds < 3_600_000) return `${Math.round(milliseconds / 60_000)} min`;
  return `${(milliseconds / 3_600_000).toFixed(1)} h`;
}

export function timeText(at) {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? String(at) : date.toLocaleString();
}

/** Formats a path in a state as people write it: messages[0].text */
export function pathText(path) {
  let text = "";
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`;
    else if (/^[A-Za-z_$][\w$-]*$/.test(step)) text += text === "" ? step : `.${step}`;
    else text += `[${JSON.stringify(step)}]`;
  }
  return text === "" ? "(the state)" : text;
}
