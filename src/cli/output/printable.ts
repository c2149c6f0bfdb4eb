/**
 * Characters that control a terminal, change the direction of text, or are invisible. The two joiners stay: scripts and
 * emoji need them.
 */
const control = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/**
 * Escapes characters that a terminal would obey or hide, since ids and labels come from others. The escapes mean the
 * same text in JSON.
 */
export function printable(text: string): string {
  return text.replace(control, (character) =>
    Array.from({ length: character.length }, (_, index) => {
      return `\\u${character.charCodeAt(index).toString(16).padStart(4, "0")}`;
    }).join(""),
  );
}

/** Escapes each line of a text as {@link printable} does. */
export function printableLines(text: string): string {
  return text.split("\n").map(printable).join("\n");
}

const plain = /^[\x20-\x7e]*$/;
/** Characters that take two columns of a terminal: East Asian scripts and emoji. */
const wide =
  /^(?:\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{20000}-\u{3fffd}])/u;
const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

const columnsOfGrapheme = (grapheme: string): number => (wide.test(grapheme) || grapheme.includes("\ufe0f") ? 2 : 1);

/** Returns how many columns of a terminal a text takes. */
export function columnsOf(text: string): number {
  if (plain.test(text)) return text.length;
  let columns = 0;
  for (const { segment } of graphemes.segment(text)) columns += columnsOfGrapheme(segment);
  return columns;
}

/** Shortens a text to a number of columns, with an ellipsis, and never within a character. */
export function shortened(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text;
  let kept = "";
  let left = columns - 1;
  for (const { segment } of graphemes.segment(text)) {
    left -= columnsOfGrapheme(segment);
    if (left < 0) break;
    kept += segment;
  }
  return `${kept}…`;
}

/** Shortens a text to a number of columns by leaving out its middle: names mostly differ at their ends. */
export function shortenedInside(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text;
  const parts = Array.from(graphemes.segment(text), ({ segment }) => segment);
  let left = columns - 1;
  const [start, end]: [string[], string[]] = [[], []];
  for (let [low, high, fromEnd] = [0, parts.length - 1, true]; low <= high; fromEnd = !fromEnd) {
    const part = parts[fromEnd ? high : low] as string;
    left -= columnsOfGrapheme(part);
    if (left < 0) break;
    if (fromEnd) {
      end.unshift(part);
      high -= 1;
    } else {
      start.push(part);
      low += 1;
    }
  }
  return `${start.join("")}…${end.join("")}`;
}
