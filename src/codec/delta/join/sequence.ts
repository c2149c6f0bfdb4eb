import type { Json } from "../../json.ts";
import { corruptDelta, type Delta, readList, readSplice, readText, readWhole } from "../format.ts";

/**
 * A part of an array or string under change: base elements that are kept, dropped or (singly) edited, or inserted
 * content. Invariant: kept, dropped and edited segments, in order, cover the base exactly once.
 */
export type Segment<Content, Effect> =
  | { readonly kind: "keep"; count: number }
  | { readonly kind: "drop"; count: number }
  | { readonly kind: "edit"; effect: Effect; readonly count: 1 }
  | { readonly kind: "insert"; content: Content; count: number };

/** The operations that arrays and strings share. */
interface Sliceable<Content> {
  readonly length: number;
  slice(start: number, end?: number): Content;
  concat(other: Content): Content;
}

/**
 * The composed changes of an array or string. Until a change with positions gives the length, the base is a single kept
 * segment of unknown count (`open`), and only content at the end can follow it.
 */
export class Sequence<Content extends Sliceable<Content>, Effect> {
  segments: Segment<Content, Effect>[] = [{ kind: "keep", count: 0 }];
  open = true;

  /** Checks the length that a delta was made for, and closes an open base with it. */
  expectLength(value: unknown): number {
    const length = readWhole(value, 0, Number.MAX_SAFE_INTEGER, "l");
    let known = 0;
    for (const segment of this.segments) if (segment.kind !== "drop") known += segment.count;
    if (this.open && length >= known) {
      const base = this.segments[0];
      if (base?.kind === "keep") base.count = length - known;
      this.open = false;
    } else if (length !== known) {
      throw corruptDelta("two deltas do not follow one another: the lengths differ");
    }
    return length;
  }

  append(content: Content): void {
    if (content.length > 0) insertInto(this.segments, content);
  }

  splice(splices: Iterable<readonly [start: number, end: number, content: Content]>): void {
    const old = this.segments;
    const next: Segment<Content, Effect>[] = [];
    let index = 0;
    let offset = 0; // within old[index]
    let position = 0;
    // Advances to `end`, passing elements to `next` or dropping them.
    const advance = (end: number, dropping: boolean): void => {
      for (let segment = old[index]; segment !== undefined; segment = old[index]) {
        if (segment.kind === "drop") {
          pass(next, segment);
          index++;
          continue;
        }
        if (position >= end) break;
        const take = Math.min(segment.count - offset, end - position);
        pass(next, part(segment, offset, take, dropping));
        position += take;
        offset += take;
        if (offset === segment.count) {
          index++;
          offset = 0;
        }
      }
    };
    for (const [start, end, content] of splices) {
      advance(start, false);
      advance(end, true);
      if (content.length > 0) insertInto(next, content);
    }
    advance(Number.POSITIVE_INFINITY, false);
    this.segments = next;
  }
}

function part<Content extends Sliceable<Content>, Effect>(
  segment: Segment<Content, Effect>,
  offset: number,
  count: number,
  dropping: boolean,
): Segment<Content, Effect> | undefined {
  if (segment.kind === "insert") {
    if (dropping) return undefined;
    if (count === segment.count) return segment;
    return { kind: "insert", content: segment.content.slice(offset, offset + count), count };
  }
  if (dropping) return { kind: "drop", count };
  return segment.kind === "edit" ? segment : { kind: "keep", count };
}

function pass<Content extends Sliceable<Content>, Effect>(
  segments: Segment<Content, Effect>[],
  segment: Segment<Content, Effect> | undefined,
): void {
  if (segment === undefined || segment.count === 0) return;
  const last = segments.at(-1);
  if (segment.kind === "insert") {
    insertInto(segments, segment.content);
  } else if (segment.kind !== "edit" && last?.kind === segment.kind) {
    last.count += segment.count;
  } else {
    segments.push(segment);
  }
}

/**
 * Adds content at the end. Invariant: the content of a segment belongs to it alone, so an array is copied before it is
 * kept.
 */
function insertInto<Content extends Sliceable<Content>, Effect>(
  segments: Segment<Content, Effect>[],
  content: Content,
): void {
  const last = segments.at(-1);
  if (last?.kind !== "insert") {
    segments.push({ kind: "insert", content: content.slice(0), count: content.length });
  } else if (Array.isArray(last.content)) {
    for (const item of content as unknown as Json[]) last.content.push(item);
    last.count += content.length;
  } else {
    last.content = last.content.concat(content);
    last.count += content.length;
  }
}

/** Reads the splices of an array delta. */
export function* arraySplices(
  splices: Delta["x"],
  length: number,
): Generator<readonly [start: number, end: number, content: Json[]]> {
  let position = 0;
  for (const entry of readList(splices, "x")) {
    const [start, end] = readSplice(entry, position, length, "x");
    yield [start, end, entry.slice(2) as Json[]];
    position = end;
  }
}

/** Reads the splices of a string delta. */
export function* textSplices(
  splices: Delta["t"],
  length: number,
): Generator<readonly [start: number, end: number, content: string]> {
  let position = 0;
  for (const entry of readList(splices, "t")) {
    const [start, end] = readSplice(entry, position, length, "t");
    yield [start, end, readText(entry[2], "t")];
    position = end;
  }
}
