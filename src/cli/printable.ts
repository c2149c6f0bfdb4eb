const control = /[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** Text that does nothing to a terminal: ids and labels are other people's, and may hold escape sequences. */
export function printable(text: string): string {
  return text.replace(control, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Shortens to a width, with an ellipsis. */
export function shortened(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`;
}
