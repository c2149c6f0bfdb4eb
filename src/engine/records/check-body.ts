import { type Delta, visitTouched } from "../../codec/delta/index.ts";
import { isObject, type Json } from "../../codec/json.ts";
import { checkDepth } from "../../codec/values/depth.ts";
import type { ValueCodec } from "../../codec/values/value.ts";
import type { Interrupt } from "../../model/checkpoint.ts";
import { checkParts } from "../../model/validation/put.ts";
import { questionIds, type Row } from "./row.ts";

const names = { p: "path", n: "next", c: "completed", i: "interrupts", b: "barriers" } as const;
const parts = Object.keys(names) as readonly (keyof typeof names)[];
const PARTS = parts.length + 1;

/**
 * Checks that a body is one that a put could have made: values that decode, and parts as `put` takes them. With
 * `change`, which was applied last, only the nodes that it touched are checked: the others have been already.
 */
export function checkBody(codec: ValueCodec, row: Row, tree: Json, tagged: boolean, change?: Delta): void {
  if (
    !isObject(tree) ||
    Object.keys(tree).length !== PARTS ||
    !["s", ...parts].every((part) => Object.hasOwn(tree, part))
  ) {
    throw new Error("its body does not have the parts of a body");
  }
  const check = (node: Json, depth: number): void => {
    if (tagged) codec.decode(node, { depth });
    else checkDepth(node, depth);
  };
  visitTouched(tree, change ?? { r: tree }, (node, depth) => {
    if (depth > 0) check(node, depth - 1);
    else for (const part of Object.values(tree)) check(part, 0);
  });
  for (const part of parts) {
    const value = touchedPart(tree[part] as Json, part, change);
    if (value === undefined) continue;
    checkParts({ [names[part]]: tagged ? codec.decode(value) : value });
    // A put spells out the short form.
    if (part === "n" && !(value as Json[]).every(isObject)) throw new TypeError("next must name its nodes in objects.");
  }
  const { n, i } = tree;
  if ((n as Json[]).length !== row.pending || (i as Json[]).length !== row.waiting) {
    throw new Error("its body and its metadata do not match");
  }
  if (row.questions === null) return;
  const asked = questionIds((tagged ? codec.decode(i as Json) : i) as readonly Interrupt[]);
  if (JSON.stringify(row.questions) !== JSON.stringify(asked)) {
    throw new Error("its body asks other questions than its metadata");
  }
}

/** Returns at least the elements of a part that the change touched; undefined where it left the part alone. */
function touchedPart(value: Json, part: string, change: Delta | undefined): Json | undefined {
  if (!change || change.s?.[part] !== undefined) return value;
  const inside = change.d?.[part];
  if (inside === undefined) return undefined;
  const grows = Array.isArray(value) && Object.keys(inside).every((letter) => letter === "p" || letter === "l");
  return grows ? (inside.p ?? []) : value;
}
