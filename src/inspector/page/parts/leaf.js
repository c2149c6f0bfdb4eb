import { html } from "../dom.js";
import { bytesText, countText } from "./format.js";

const NAMES = {
  array: "Array",
  map: "Map",
  set: "Set",
  object: "Object",
  date: "Date",
  regexp: "RegExp",
  error: "Error",
  url: "URL",
  searchparams: "URLSearchParams",
  bigint: "BigInt",
  class: "class",
};

/** Shows a value on a line: its type where it is not plain JSON, and the value or its beginning. */
export function Leaf({ node, open = false }) {
  const { type, text, parts, length } = node;
  if (type === "string") {
    return html`<span class="value string">${`"${text}${length === undefined ? '"' : ""}`}</span>${length !== undefined && !open && html`<span class="more">… ${countText(length, "character")}</span>`}`;
  }
  if (["array", "map", "set", "object"].includes(type)) {
    return html`<span class="type">${NAMES[type]}</span><span class="count">${parts.toLocaleString("en")}</span>`;
  }
  if (length !== undefined) {
    return html`<span class="type">${type}</span><span class="value bytes">${text}${length * 2 > text.length ? "…" : ""}</span><span class="more">${bytesText(length)}</span>`;
  }
  const name = NAMES[type];
  return html`${name && html`<span class="type">${name}</span>`}<span class=${`value ${type}`}>${text}</span>`;
}
