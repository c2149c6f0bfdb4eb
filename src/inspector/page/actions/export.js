import { exportAddress } from "../api.js";
import { Dialog } from "../dialog.js";
import { html } from "../dom.js";
import { countText } from "../format.js";

/** Offers a thread, or without one the whole store, as a file. */
export function ExportDialog({ thread, checkpoints, onClose }) {
  const title = thread === undefined ? "Export every thread" : "Export this thread";
  return html`
    <${Dialog} title=${title} onClose=${onClose}>
      <p>${checkpoints === undefined ? "All checkpoints" : countText(checkpoints, "checkpoint")} as a bundle of lines that any store can import.</p>
      <p><a class="button primary" href=${exportAddress(thread)} download onClick=${onClose}>Download</a></p>
    <//>
  `;
}
