import { bundle } from "../api.js";
import { html } from "../dom.js";
import { Dialog } from "../parts/dialog.js";
import { countText } from "../parts/format.js";

/** Offers a thread, or the whole store without one, as a file. */
export function ExportDialog({ thread, checkpoints, onClose }) {
  const title = thread === undefined ? "Export every thread" : "Export this thread";
  return html`
    <${Dialog} title=${title} verb="Download" onClose=${onClose} act=${async () => save(await bundle(thread))}>
      <p>${checkpoints === undefined ? "All checkpoints" : countText(checkpoints, "checkpoint")} as a bundle of lines that any store can import.</p>
    <//>
  `;
}

function save(file) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = "threadmark.bundle";
  link.click();
  // The browser holds on to the file by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
