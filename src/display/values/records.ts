export type Fields = Readonly<Record<string, unknown>>;

/** Returns the text at a key, undefined for any other value there. */
export function textAt(record: Fields, key: string): string | undefined {
  const value = own(record, key);
  return typeof value === "string" ? value : undefined;
}

/** Returns the value at an own key: a state may name a key "constructor". */
export function own(record: Fields, key: string): unknown {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

/** Puts a text on a line, and cuts it to a number of characters, never within one. */
export function oneLine(text: string, most: number): string {
  const line = text
    .slice(0, most * 4 + 40)
    .replaceAll(/\s+/g, " ")
    .trim();
  return cutText(line, most, text.length > most * 4 + 40);
}

/** Cuts a text to a number of characters, with an ellipsis at the end. */
export function cutText(text: string, most: number, isCut = false): string {
  if (text.length <= most && !isCut) return text;
  const kept = text.slice(0, Math.max(1, most - 1));
  return `${(kept.isWellFormed() ? kept : kept.slice(0, -1).toWellFormed()).trimEnd()}…`;
}
