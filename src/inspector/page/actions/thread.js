import { post } from "../api.js";
import { html, useState } from "../dom.js";
import { Dialog } from "../parts/dialog.js";
import { countText } from "../parts/format.js";
import { go } from "../route.js";
import { ExportDialog } from "./export.js";
import { PruneDialog } from "./prune.js";

/** Shows the actions on a thread; each asks first. */
export function ThreadActions({ thread, readOnly, notify, onDone }) {
  const [open, setOpen] = useState("");
  const close = () => setOpen("");
  const { id, checkpoints } = thread;
  if (readOnly) return null;
  return html`
    <div class="actions">
      <button type="button" onClick=${() => setOpen("export")}>Export …</button>
      <button type="button" onClick=${() => setOpen("prune")}>Prune …</button>
      <button type="button" onClick=${() => setOpen("delete")}>Delete …</button>
    </div>
    ${open === "export" && html`<${ExportDialog} thread=${id} checkpoints=${checkpoints} onClose=${close} />`}
    ${
      open === "prune" &&
      html`<${PruneDialog} thread=${id} onClose=${close} onDone=${(text) => {
        notify(text);
        onDone();
      }} />`
    }
    ${
      open === "delete" &&
      html`
        <${Dialog} title="Delete this thread?" verb="Delete" danger onClose=${close}
          act=${async () => {
            await post("delete", { thread: id });
            notify("The thread is deleted.");
            go({ view: "threads" });
          }}>
          <p><b>${id}</b> and its ${countText(checkpoints, "checkpoint")}. What was forked from it stays.</p>
        <//>
      `
    }
  `;
}
