import type { PreviewNode, StateNode, Step } from "../../api/answers.ts";
import { get, type Parameters } from "../api.ts";

const PAGE = 100;
const TEXT_PART = 20_000;

/** A value in the tree, with the parts of it that were read. */
export interface TreeNode {
  readonly path: readonly Step[];
  /** The path as a text, which tells the node from all others. */
  readonly key: string;
  step: Step | undefined;
  label: string | undefined;
  type: string | undefined;
  text: string;
  parts: number;
  length: number | undefined;
  title: string | undefined;
  children: (TreeNode | undefined)[];
  open: boolean;
  /** True if a text is shown on as many lines as it has. */
  whole: boolean;
}

/** A row of the tree as it is drawn: a value, a stretch of values that were not read, or the fold of LangGraph's keys. */
export type TreeRow =
  | { readonly kind: "node"; readonly node: TreeNode; readonly level: number }
  | {
      readonly kind: "gap";
      readonly node: TreeNode;
      readonly level: number;
      readonly from: number;
      readonly count: number;
    }
  | { readonly kind: "internals"; readonly count: number; readonly open: boolean };

/** The values of a checkpoint that were read so far. Only opened parts are read. */
export class TreeModel {
  readonly root: TreeNode;
  /** How many keys of the state LangGraph keeps for itself; they are the last. */
  internal = 0;
  showInternal = false;
  readonly #place: Parameters;

  constructor(place: Parameters, at: readonly Step[]) {
    this.#place = place;
    this.root = emptyNode(at, undefined, undefined);
    this.root.open = true;
  }

  async load(node: TreeNode, offset: number): Promise<void> {
    const answer = await get<StateNode>("state", { ...this.#place, path: node.path, offset, limit: PAGE });
    if (node === this.root) this.internal = answer.internal;
    adopt(node, answer, answer.offset);
  }

  async toggle(node: TreeNode): Promise<void> {
    node.open = !node.open;
    if (node.open && node.parts > 0 && node.children.length === 0) await this.load(node, 0);
  }

  /** Reads a text, or bytes, further. */
  async readOn(node: TreeNode): Promise<void> {
    node.whole = true;
    if (!isCut(node)) return;
    const isText = node.type === "string";
    const offset = isText ? node.text.length : node.text.length / 2;
    const { text } = await get<{ text: string }>("state/text", {
      ...this.#place,
      path: node.path,
      offset,
      limit: TEXT_PART,
    });
    node.text += text;
    if (isText && node.text.length >= (node.length ?? 0)) node.length = undefined;
  }

  async value(node: TreeNode): Promise<unknown> {
    return (await get<{ value: unknown }>("state/value", { ...this.#place, path: node.path })).value;
  }

  /** Opens every node on the way to a path, and returns the last. */
  async open(path: readonly Step[]): Promise<TreeNode | undefined> {
    let node = this.root;
    if (node.type === undefined) await this.load(node, 0);
    for (const step of path.slice(this.root.path.length)) {
      node.open = true;
      const position = (): number => node.children.findIndex((child) => child?.step === step);
      if (position() < 0) await this.load(node, typeof step === "number" ? Math.floor(step / PAGE) * PAGE : 0);
      for (let offset = PAGE; position() < 0 && offset < node.parts; offset += PAGE) await this.load(node, offset);
      const child = node.children[position()];
      if (child === undefined) return undefined;
      if (node === this.root && node.children.indexOf(child) >= node.parts - this.internal) this.showInternal = true;
      node = child;
    }
    return node;
  }

  /** Returns the rows to draw. */
  rows(): readonly TreeRow[] {
    const { root } = this;
    if (root.type === undefined) return [];
    if (root.parts === 0) return [{ kind: "node", node: root, level: 1 }];
    const rows: TreeRow[] = [];
    const shown = root.parts - this.internal;
    this.#addChildren(rows, root, 1, 0, shown);
    if (this.internal > 0) {
      rows.push({ kind: "internals", count: this.internal, open: this.showInternal });
      if (this.showInternal) this.#addChildren(rows, root, 1, shown, root.parts);
    }
    return rows;
  }

  #addChildren(rows: TreeRow[], node: TreeNode, level: number, from: number, to: number): void {
    for (let index = from; index < to; ) {
      const child = node.children[index];
      if (child !== undefined) {
        rows.push({ kind: "node", node: child, level });
        if (child.open && child.parts > 0) this.#addChildren(rows, child, level + 1, 0, child.parts);
        index += 1;
        continue;
      }
      // Behind the last part that was read there is a single gap, however long the list is.
      const known = Math.min(to, node.children.length);
      let end = index;
      while (end < known && node.children[end] === undefined) end += 1;
      if (end >= known) end = to;
      rows.push({ kind: "gap", node, level, from: index, count: end - index });
      index = end;
    }
  }
}

export const GAP_PAGE = PAGE;

/** Tells whether a text, or bytes, is longer than was read. */
export function isCut({ type, text, length }: TreeNode): boolean {
  return length !== undefined && text.length < (type === "string" ? length : length * 2);
}

function emptyNode(path: readonly Step[], step: Step | undefined, label: string | undefined): TreeNode {
  return {
    path,
    key: JSON.stringify(path),
    step,
    label,
    type: undefined,
    text: "",
    parts: 0,
    length: undefined,
    title: undefined,
    children: [],
    open: false,
    whole: false,
  };
}

/** Updates a node with the server's answer, and keeps opened parts. */
function adopt(node: TreeNode, answer: PreviewNode, offset: number): void {
  const { type, text, parts, length, title, children = [] } = answer;
  const isWhole = node.type === "string" && node.text.length > text.length;
  Object.assign(node, { type, parts, title, ...(isWhole ? {} : { text, length }) });
  for (const [index, child] of children.entries()) {
    const step = child.step ?? index;
    const fresh = emptyNode([...node.path, step], step, child.label);
    node.children[offset + index] = fresh;
    adopt(fresh, child, 0);
    if (child.children !== undefined)
      fresh.open = child.children.length <= 12 && children.length <= 20 && node.path.length < 2;
  }
}
