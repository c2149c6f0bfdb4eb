import type { LogLine, LogPage, LogRange } from "../../backend.ts";
import { logBounds } from "../../backend.ts";

/** Lines above the bound that are left until the next cut. */
const slack = 1024;

/** A log in memory. Positions count from 1 and have no gaps. */
export class KeptLog<Line extends LogLine = LogLine> {
  #lines: Line[] = [];
  /** The position of the last line. */
  #end = 0;

  get end(): number {
    return this.#end;
  }

  get length(): number {
    return this.#lines.length;
  }

  /** Adds a line at the next position, or at a later one: the lines before that were cut. */
  add(line: Line, position: number = this.#end + 1): void {
    if (position > this.#end + 1) this.#lines = [];
    this.#end = position;
    this.#lines.push(line);
  }

  page({ after, limit, newest = false }: LogRange): LogPage {
    const cut = this.#end - this.#lines.length;
    const position = Number(after);
    const lines: LogPage["lines"][number][] = [];
    const first = newest ? Math.max(position, cut, this.#end - limit) : Math.max(position, cut);
    for (let at = first; at < this.#end && lines.length < limit; at++) {
      const { at: time, text } = this.#lines[at - cut] as Line;
      lines.push({ position: String(at + 1), at: time, text });
    }
    const end = this.#end === 0 ? "" : String(this.#end);
    return { lines, end, expired: !(position >= cut && position <= this.#end) };
  }

  /** Removes lines beyond the bounds, and returns them. Unless it is `exact`, it waits until that is worth the work. */
  cut(exact: boolean): readonly Line[] {
    const newest = this.#lines.at(-1);
    const [oldest] = this.#lines;
    if (newest === undefined || oldest === undefined) return [];
    const horizon = newest.at - logBounds.milliseconds;
    const most = logBounds.lines + (exact ? 0 : slack);
    if (this.#lines.length <= most && (!exact || oldest.at >= horizon)) return [];
    let from = Math.max(0, this.#lines.length - logBounds.lines);
    while (from < this.#lines.length - 1 && (this.#lines[from] as Line).at < horizon) from++;
    return this.#lines.splice(0, from);
  }

  [Symbol.iterator](): Iterator<Line> {
    return this.#lines[Symbol.iterator]();
  }
}
