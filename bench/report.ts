/** A promise about a ratio, and whether this run kept it. */
export interface Target {
  readonly name: string;
  readonly value: number;
  /** The greatest (or with `least` the smallest) value that keeps the promise. */
  readonly limit: number;
  readonly least?: boolean;
}

export interface Report {
  readonly targets: Target[];
  /** Everything measured, for programs. */
  readonly figures: { [name: string]: number };
}

export function newReport(): Report {
  return { targets: [], figures: {} };
}

export function isMet(target: Target): boolean {
  return target.least ? target.value >= target.limit : target.value <= target.limit;
}

export function figure(report: Report, name: string, value: number, unit = ""): void {
  report.figures[name] = value;
  console.log(`  ${name.padEnd(62)} ${format(value).padStart(10)} ${unit}`);
}

/** Notes a ratio and says at once whether it is within its limit. */
export function target(report: Report, entry: Target): void {
  report.targets.push(entry);
  const sign = entry.least ? ">=" : "<=";
  const verdict = isMet(entry) ? "met" : "NOT MET";
  console.log(`  ${entry.name.padEnd(62)} ${format(entry.value).padStart(10)} ${sign} ${entry.limit}  ${verdict}`);
}

function format(value: number): string {
  if (Math.abs(value) >= 100) return value.toFixed(0);
  return Math.abs(value) >= 10 ? value.toFixed(1) : value.toFixed(3);
}
