import { alignLists } from "../../align-lists.ts";
import type { Json } from "../../json.ts";
import type { Delta } from "../format.ts";
import { digits, same, sizeOf } from "../measure.ts";
import { type Compare, enough, type NodeDiff, orReplaced } from "../node-diff.ts";
import { type CommonRun, commonRuns } from "./common-runs.ts";

/** Compares two arrays; undefined when they are equal. */
export function diffArray(before: Json[], after: Json[], depth: number, compare: Compare): NodeDiff | undefined {
  const limit = Math.min(before.length, after.length);
  let prefix = 0;
  // Most elements are identical nodes. Unlike ===, Object.is does not read the node itself, which saves a fetch from
  // memory.
  while (prefix < limit && (Object.is(before[prefix], after[prefix]) || same(before[prefix]!, after[prefix]!)))
    prefix++;
  if (prefix === before.length && prefix === after.length) return undefined;
  let suffix = 0;
  while (suffix < limit - prefix && same(before[before.length - suffix - 1]!, after[after.length - suffix - 1]!))
    suffix++;

  const edits = new Edits(before, after, depth, compare);
  edits.keep(prefix);
  for (const match of middle(before, after, prefix, suffix)) {
    edits.change(match.before, match.after);
    edits.keep(match.count);
  }
  edits.change(before.length - suffix, after.length - suffix);
  edits.keep(suffix);
  return edits.result();
}

/** Finds the runs that the parts between common prefix and suffix share. */
function middle(before: Json[], after: Json[], prefix: number, suffix: number): CommonRun[] {
  const removed = before.slice(prefix, before.length - suffix);
  const added = after.slice(prefix, after.length - suffix);
  return moved(runsOf(removed, added), prefix, prefix);
}

/** Finds the runs that two lists share which differ in their first elements. */
function runsOf(before: Json[], after: Json[]): CommonRun[] {
  const shorter = Math.min(before.length, after.length);
  if (shorter === 0 || before.length * after.length === 1) return [];
  if (before.length === after.length) {
    const inPlace = matchesInPlace(before, after);
    if (inPlace.length > 0) return inPlace;
  }
  // Elements dropped at one end and added at the other, or one stretch replaced by another, need no search.
  const { at, from, length } = alignLists(after.length, before.length, 0, (index, oldIndex) =>
    same(after[index]!, before[oldIndex]!),
  );
  if (length * 2 < shorter) return commonRuns(before, after);
  const [beforeEnd, afterEnd] = [from + length, at + length];
  const rest = runsOf(before.slice(beforeEnd), after.slice(afterEnd));
  return [{ before: from, after: at, count: length }, ...moved(rest, beforeEnd, afterEnd)];
}

function moved(runs: CommonRun[], before: number, after: number): CommonRun[] {
  for (const run of runs) {
    run.before += before;
    run.after += after;
  }
  return runs;
}

/**
 * Finds elements that kept their index. That is the usual case, and needs no search; returns none where fewer than half
 * did.
 */
function matchesInPlace(before: Json[], after: Json[]): CommonRun[] {
  const matches: CommonRun[] = [];
  let last: CommonRun | undefined;
  let count = 0;
  for (let index = 0; index < before.length; index++) {
    if (!same(before[index]!, after[index]!)) {
      last = undefined;
      continue;
    }
    if (last === undefined) {
      last = { before: index, after: index, count: 0 };
      matches.push(last);
    }
    last.count++;
    count++;
  }
  return count * 2 >= before.length ? matches : [];
}

/** Collects edits from left to right, and counts how many characters they save over writing the array anew. */
class Edits {
  readonly #before: Json[];
  readonly #after: Json[];
  readonly #depth: number;
  readonly #compare: Compare;
  readonly #edited: NonNullable<Delta["e"]> = [];
  readonly #spliced: NonNullable<Delta["x"]> = [];
  /** Where the last splice ends in `before`. A change that begins there extends the splice. */
  #spliceEnd = -1;
  #atBefore = 0;
  #atAfter = 0;
  #gain = 0;
  #exact = true;

  constructor(before: Json[], after: Json[], depth: number, compare: Compare) {
    this.#before = before;
    this.#after = after;
    this.#depth = depth;
    this.#compare = compare;
  }

  keep(count: number): void {
    for (let index = 0; index < count; index++) {
      if (this.#gain >= enough) {
        this.#exact = false;
        break;
      }
      const size = sizeOf(this.#after[this.#atAfter + index]!, enough);
      if (size >= enough) this.#exact = false;
      this.#gain += size + 1;
    }
    this.#atBefore += count;
    this.#atAfter += count;
  }

  /**
   * Records that everything up to these ends differs: compares pair by pair, then removes or inserts the surplus of one
   * side.
   */
  change(beforeEnd: number, afterEnd: number): void {
    while (this.#atBefore < beforeEnd && this.#atAfter < afterEnd) {
      const change = this.#compare(this.#before[this.#atBefore]!, this.#after[this.#atAfter]!, this.#depth + 1);
      if (change?.delta === undefined) {
        if (change === undefined) this.keep(1);
        else this.#splice(1, 1);
        continue;
      }
      this.#edited.push([this.#atBefore, change.delta]);
      this.#gain += change.gain - 4 - digits(this.#atBefore);
      if (!change.exact) this.#exact = false;
      this.#atBefore++;
      this.#atAfter++;
    }
    if (this.#atBefore < beforeEnd || this.#atAfter < afterEnd) {
      this.#splice(beforeEnd - this.#atBefore, afterEnd - this.#atAfter);
    }
  }

  #splice(removed: number, added: number): void {
    const items = this.#after.slice(this.#atAfter, this.#atAfter + added);
    const last = this.#spliced.at(-1);
    if (last !== undefined && this.#spliceEnd === this.#atBefore) {
      last[1] += removed;
      for (const item of items) last.push(item);
    } else {
      this.#spliced.push(spliceOf(this.#atBefore, removed, items));
    }
    this.#atBefore += removed;
    this.#atAfter += added;
    this.#spliceEnd = this.#atBefore;
  }

  result(): NodeDiff | undefined {
    const delta: Delta = {};
    const last = this.#spliced.at(-1);
    let pushed: Json[] | undefined;
    if (last !== undefined && last[0] === this.#before.length) {
      this.#spliced.pop();
      pushed = last.slice(2) as Json[];
    }
    if (this.#edited.length + this.#spliced.length > 0) {
      delta.l = this.#before.length;
      this.#gain -= 5 + digits(delta.l);
    }
    if (this.#edited.length > 0) {
      delta.e = this.#edited;
      this.#gain -= 7;
    }
    if (this.#spliced.length > 0) {
      delta.x = this.#spliced;
      this.#gain -= 7;
      for (const splice of this.#spliced) this.#gain -= 5 + digits(splice[0]) + digits(splice[1]);
    }
    if (pushed !== undefined) {
      delta.p = pushed;
      this.#gain -= 6;
    }
    return orReplaced(delta, this.#after, this.#gain, this.#exact);
  }
}

function spliceOf(start: number, removed: number, items: Json[]): [number, number, ...Json[]] {
  const splice: [number, number, ...Json[]] = [start, removed];
  for (const item of items) splice.push(item);
  return splice;
}
