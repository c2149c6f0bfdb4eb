/** Verbs that tell a reader what to do. A message needs a sentence or a part of one that begins with such a verb. */
const verbs = [
  ..."Acquire Add Answer Ask Await Begin Break Call Check Choose Close Compile Connect Copy Correct Create Decide Delete Drop".split(
    " ",
  ),
  ..."End Export Find Fix Free Give Go Grant Import Install Keep Leave Let Load Look Lower Make Move Name Open Pass Put".split(
    " ",
  ),
  ..."Raise Read Register Remove Rename Restore Resume Return Run Save See Send Set Shorten Split Start Stop Store Take".split(
    " ",
  ),
  ..."Try Turn Update Upgrade Use Wait Write".split(" "),
];
const either = [...verbs, ...verbs.map((verb) => verb.toLowerCase())].join("|");
const advice = new RegExp(`(?:^|[.;:,!?] |["'\`] ?|\\band |\\bor )(?:${either})\\b`);

/** Parts of a message that bring the advice of the fault inside, or make it of a table. */
const passedOn = /\$\{(?:[^}]*[mM]essage[^}]*|next|fault|\[\.\.\.ways, remove\][^}]*)\}/;

export interface ErrorFault {
  readonly line: number;
  readonly message: string;
}

/** Finds errors with a code whose message does not say what to do. `count` is how many were looked at. */
export function errorFaults(source: string): { readonly count: number; readonly faults: readonly ErrorFault[] } {
  const faults: ErrorFault[] = [];
  let count = 0;
  for (const found of source.matchAll(/new (?:ThreadmarkError|RunError)\(/g)) {
    count += 1;
    const before = source.slice(0, found.index);
    const call = callAt(source, found.index + found[0].length);
    // A message made before the call is looked for there; one that the function was given was made elsewhere.
    const made = /^[^,]*,\s*message\b/.test(call) ? before.lastIndexOf("const message =") : undefined;
    if (made === -1) continue;
    const text = made === undefined ? call : source.slice(made, found.index);
    if (advice.test(text.replaceAll(/\$\{[^}]*\}/g, "X")) || passedOn.test(text)) continue;
    faults.push({ line: before.split("\n").length, message: call.trim().replaceAll(/\s+/g, " ").slice(0, 120) });
  }
  return { count, faults };
}

/** Returns the text of a call's parameters. */
function callAt(source: string, start: number): string {
  let depth = 1;
  let at = start;
  for (; depth > 0 && at < source.length; at += 1) {
    const character = source[at];
    if (character === "(") depth += 1;
    if (character === ")") depth -= 1;
  }
  return source.slice(start, at - 1);
}

/** Returns the codes of a union type of string literals. */
export function codesOf(source: string, type: string): readonly string[] {
  const [, union = ""] = new RegExp(`export type ${type} =([^;]*);`).exec(source) ?? [];
  return [...union.matchAll(/"([A-Z_]+)"/g)].map(([, code = ""]) => code);
}

/** Returns the codes that have a row of their own on the page of errors, with the anchor that `error.help` leads to. */
export function documentedCodes(page: string): readonly string[] {
  const rows = page.matchAll(/^\| <a id="([a-z_]+)"><\/a>`([A-Z_]+)` \|/gm);
  return [...rows].filter(([, anchor, code]) => anchor === code?.toLowerCase()).map(([, , code = ""]) => code);
}
