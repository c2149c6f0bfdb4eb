import { get } from "../api.js";
import { html, useEffect, useRef, useState } from "../dom.js";
import { pathText } from "../parts/format.js";
import { Leaf } from "../parts/leaf.js";
import { StateSearch } from "./search.js";

const PAGE = 100;
const TEXT_PART = 20_000;

/**
 * Shows a state as a tree that is read as it is opened. `place` names the checkpoint (and the part of it), `at` the
 * path inside. It is a single tab stop: arrows move, open and close; c copies.
 */
export function StateTree({ place, at = [], search = false }) {
  const root = useRef({ path: at, children: [], open: true });
  const [, setVersion] = useState(0);
  const [failure, setFailure] = useState("");
  const [notice, setNotice] = useState("");
  const tree = useRef(null);
  const redraw = () => setVersion((version) => version + 1);

  const load = async (node, offset) => {
    try {
      const answer = await get("state", { ...place, path: node.path, offset, limit: PAGE });
      adopt(node, answer);
      setFailure("");
    } catch (error) {
      setFailure(error.message);
    }
    redraw();
  };
  useEffect(() => {
    void load(root.current, 0);
  }, []);

  const toggle = (node) => {
    node.open = !node.open;
    if (node.open && node.parts > 0 && node.children.length === 0) void load(node, 0);
    else redraw();
  };
  const copy = async (node) => {
    const { value } = await get("state/value", { ...place, path: node.path });
    await navigator.clipboard.writeText(JSON.stringify(value, null, 2));
    setNotice(`Copied ${pathText(node.path)}.`);
  };
  const readOn = async (node) => {
    const { text } = await get("state/text", {
      ...place,
      path: node.path,
      offset: node.type === "string" ? node.text.length : node.text.length / 2,
      limit: TEXT_PART,
    });
    node.text += text;
    if (node.type === "string" && node.text.length >= node.length) node.length = undefined;
    redraw();
  };
  /** Opens every node on the way to a path, and moves there. */
  const jump = async (path) => {
    let node = root.current;
    for (const [depth, step] of path.entries()) {
      node.open = true;
      const position = () => node.children.findIndex((child) => child?.step === step);
      if (position() < 0) await load(node, typeof step === "number" ? Math.floor(step / PAGE) * PAGE : 0);
      for (let offset = PAGE; position() < 0 && offset < node.parts; offset += PAGE) await load(node, offset);
      const child = node.children[position()];
      if (child === undefined) return;
      node = child;
      if (depth === path.length - 1) node.found = true;
    }
    redraw();
    requestAnimationFrame(() => {
      const row = tree.current.querySelector(`[data-path="${CSS.escape(JSON.stringify(node.path))}"]`);
      row?.focus();
      row?.scrollIntoView({ block: "center" });
      node.found = false;
    });
  };

  const enter = (node) => {
    if (node.parts > 0) toggle(node);
    else if (isCut(node)) void readOn(node);
  };
  const press = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const rows = [...tree.current.querySelectorAll("[role=treeitem]")];
    const here = rows.indexOf(document.activeElement);
    if (here < 0) return;
    const node = rows[here].node;
    const focus = (index) => rows[Math.max(0, Math.min(rows.length - 1, index))]?.focus();
    if (event.key === "ArrowDown") focus(here + 1);
    else if (event.key === "ArrowUp") focus(here - 1);
    else if (event.key === "Home") focus(0);
    else if (event.key === "End") focus(rows.length - 1);
    else if (event.key === "ArrowRight" && node.parts > 0 && !node.open) toggle(node);
    else if (event.key === "ArrowLeft" && node.open && node.parts > 0) toggle(node);
    else if (event.key === "ArrowLeft") {
      const level = Number(rows[here].ariaLevel);
      focus(rows.findLastIndex((row, index) => index < here && Number(row.ariaLevel) < level));
    } else if (event.key === "Enter" || event.key === " ") enter(node);
    else if (event.key === "c") void copy(node);
    else return;
    event.preventDefault();
  };

  const node = root.current;
  const actions = { toggle, copy, readOn, load };
  return html`
    ${search && html`<${StateSearch} place=${place} onPick=${jump} onCopy=${() => copy(node)} />`}
    ${failure !== "" && html`<p class="failure" role="alert">${failure}</p>`}
    <p class="quiet" role="status">${notice}</p>
    <div ref=${tree} class="tree" role="tree" aria-label=${at.length === 0 ? "State" : pathText(at)} onKeyDown=${press}>
      ${
        node.type === undefined
          ? html`<p class="empty">…</p>`
          : node.parts === 0
            ? html`<${Row} node=${node} level=${1} actions=${actions} first />`
            : html`<${Children} node=${node} level=${1} actions=${actions} />`
      }
    </div>
  `;
}

/** Tells whether a text, or bytes, is longer than shown. */
function isCut({ type, text, length }) {
  return length !== undefined && text.length < (type === "string" ? length : length * 2);
}

/** Updates a node with the server's answer, and keeps opened parts. */
function adopt(node, { offset = 0, children = [], ...summary }) {
  const { text, length } = node;
  Object.assign(node, summary);
  if (text !== undefined && length === undefined && node.type === "string") Object.assign(node, { text, length });
  for (const [index, child] of children.entries()) {
    const { children: inner, ...part } = child;
    const fresh = { ...part, path: [...node.path, child.step], children: [], open: false };
    node.children[offset + index] = fresh;
    if (inner !== undefined) {
      adopt(fresh, { ...part, children: inner });
      fresh.open = inner.length <= 12 && children.length <= 20;
    }
  }
}

function Children({ node, level, actions }) {
  const rows = [];
  for (let index = 0; index < node.parts; ) {
    const child = node.children[index];
    if (child !== undefined) {
      rows.push(
        html`<${Row} key=${index} node=${child} level=${level} actions=${actions} first=${level === 1 && index === 0} />`,
      );
      index += 1;
      continue;
    }
    let end = index;
    while (end < node.parts && node.children[end] === undefined) end += 1;
    const start = index;
    rows.push(html`
      <button key=${`gap-${start}`} type="button" class="gap" style=${{ paddingLeft: `${level * 16}px` }} onClick=${() => actions.load(node, start)}>
        ⋯ ${Math.min(PAGE, end - start).toLocaleString("en")} of ${(end - start).toLocaleString("en")} more
      </button>
    `);
    index = end;
  }
  return rows;
}

function Row({ node, level, actions, first = false }) {
  const opens = node.parts > 0;
  return html`
    <div
      ref=${(element) => {
        if (element) element.node = node;
      }}
      class="tree-row"
      role="treeitem"
      tabindex=${first ? 0 : -1}
      aria-level=${level}
      aria-expanded=${opens ? node.open : undefined}
      data-path=${JSON.stringify(node.path)}
      style=${{ paddingLeft: `${(level - 1) * 16}px` }}
      onClick=${(event) => {
        event.currentTarget.focus();
        if (opens && !event.target.closest("button")) actions.toggle(node);
      }}
    >
      <span class="twist" aria-hidden="true">${opens ? (node.open ? "▾" : "▸") : ""}</span>
      ${node.label !== undefined && html`<span class="key">${node.label}</span>`}
      <span class="content">
        <${Leaf} node=${node} />
        ${
          isCut(node) &&
          html`<button type="button" tabindex="-1" class="small" onClick=${() => actions.readOn(node)}>read on</button>`
        }
      </span>
      <button
        type="button"
        tabindex="-1"
        class="small copy"
        aria-label=${`Copy ${pathText(node.path)} as JSON`}
        onClick=${() => actions.copy(node)}
      >
        copy
      </button>
    </div>
    ${opens && node.open && html`<${Children} node=${node} level=${level + 1} actions=${actions} />`}
  `;
}
