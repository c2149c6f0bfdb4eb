/** A place in a value where a text was found. */
export interface TextMatch {
  readonly path: readonly (string | number)[];
  /** True if the text is in the name of a key, not in a value. */
  readonly inKey: boolean;
  /** The text around the match, on one line, and where the match is in it. */
  readonly excerpt: string;
  readonly start: number;
  readonly end: number;
}

const AROUND = 40;
const DEEPEST = 200;

/**
 * Yields the places of a value where a text occurs, in keys, strings and other leaves as they print, without regard to case. A
 * long string yields its first match only.
 */
export function* findText(value: unknown, text: string): Generator<TextMatch> {
  if (text === "") return;
  yield* walk(value, text.toLowerCase(), [], 0);
}

function* walk(value: unknown, text: string, path: readonly (string | number)[], depth: number): Generator<TextMatch> {
  if (depth > DEEPEST) return;
  if (value === null || typeof value !== "object" || value instanceof Date || value instanceof URL) {
    const leaf = typeof value === "string" ? value : String(value);
    const match = matchIn(leaf, text, path, false);
    if (match) yield match;
    return;
  }
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return;
  for (const [key, part] of partsOf(value)) {
    const inside = [...path, key];
    const match = typeof key === "string" ? matchIn(key, text, inside, true) : undefined;
    if (match) yield match;
    yield* walk(part, text, inside, depth + 1);
  }
}

function* partsOf(value: object): Generator<readonly [string | number, unknown]> {
  if (Array.isArray(value)) yield* value.entries();
  else if (value instanceof Map) {
    for (const [key, part] of value) yield [typeof key === "number" ? key : String(key), part];
  } else if (value instanceof Set) yield* [...value].entries();
  else {
    if (value instanceof Error) yield ["message", value.message];
    for (const key of Object.keys(value)) yield [key, (value as Record<string, unknown>)[key]];
  }
}

function matchIn(
  leaf: string,
  text: string,
  path: readonly (string | number)[],
  inKey: boolean,
): TextMatch | undefined {
  const lower = leaf.toLowerCase();
  // Lower case may have another length, as in Turkish: then positions would be those of another text.
  const at = (lower.length === leaf.length ? lower : leaf).indexOf(text);
  if (at < 0) return undefined;
  const from = Math.max(0, at - AROUND);
  const to = Math.min(leaf.length, at + text.length + AROUND);
  const before = `${from > 0 ? "…" : ""}${leaf.slice(from, at)}`.replaceAll(/\s/g, " ");
  const found = leaf.slice(at, at + text.length).replaceAll(/\s/g, " ");
  const after = `${leaf.slice(at + text.length, to)}${to < leaf.length ? "…" : ""}`.replaceAll(/\s/g, " ");
  return { path, inKey, excerpt: before + found + after, start: before.length, end: before.length + found.length };
}
