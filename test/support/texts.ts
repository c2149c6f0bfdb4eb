/** Returns text of so many characters that hardly compresses and that no other `n` gives. */
export function textOf(n: number, length: number): string {
  return `${n}:${Math.sin(n)}`.repeat(Math.ceil(length / 10)).slice(0, length);
}

/** Returns content as a value that a backend accepts: JSON behind an envelope that nothing here checks. */
export function recordText(content: unknown): string {
  return `1j00000000${JSON.stringify(content)}`;
}
