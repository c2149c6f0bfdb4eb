import { html } from "../dom.js";
import { Dialog } from "./dialog.js";

const KEYS = [
  ["/", "search threads"],
  ["↑ ↓", "move in a list or the state"],
  ["Page Up, Page Down, Home, End", "move far"],
  ["Enter", "open what is marked"],
  ["Shift Enter, or Shift and click", "in a timeline: compare the open checkpoint with this one"],
  ["→ ←", "in the state: open and close"],
  ["c", "in the state: copy as JSON"],
  ["Escape", "close a dialog"],
  ["?", "this list"],
];

export function KeyHelp({ onClose }) {
  return html`
    <${Dialog} title="Keys" onClose=${onClose}>
      <dl class="facts">
        ${KEYS.map(([key, meaning]) => html`<dt><kbd>${key}</kbd></dt><dd>${meaning}</dd>`)}
      </dl>
    <//>
  `;
}
