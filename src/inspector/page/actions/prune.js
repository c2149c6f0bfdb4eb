import { post } from "../api.js";
import { html, useEffect, useState } from "../dom.js";
import { Dialog } from "../parts/dialog.js";
import { bytesText, countText } from "../parts/format.js";

const DAY = 86_400_000;

/**
 * Shows what a prune with these rules would delete, and does it when asked. Without a thread, prunes the whole store.
 */
export function PruneDialog({ thread, onClose, onDone }) {
  const [keepLast, setKeepLast] = useState(10);
  const [days, setDays] = useState(0);
  const [keepLabelled, setKeepLabelled] = useState(true);
  const [protectAncestors, setProtect] = useState(false);
  const [preview, setPreview] = useState(undefined);
  const [failure, setFailure] = useState("");
  const rules = {
    thread,
    keepLast,
    keepLabelled,
    protectAncestors,
    ...(days > 0 && { olderThan: Math.round(days * DAY) }),
  };
  useEffect(() => {
    let ended = false;
    setPreview(undefined);
    const timer = setTimeout(() => {
      post("prune/preview", rules).then(
        (answer) => {
          if (!ended) setPreview(answer);
          setFailure("");
        },
        (error) => setFailure(error.message),
      );
    }, 250);
    return () => {
      ended = true;
      clearTimeout(timer);
    };
  }, [keepLast, days, keepLabelled, protectAncestors]);
  const number = (event) => Math.max(0, Number(event.target.value) || 0);
  return html`
    <${Dialog} title=${thread === undefined ? "Prune every thread" : "Prune this thread"} verb="Prune" danger
      ready=${preview !== undefined && preview.deleted > 0} onClose=${onClose}
      act=${async () => {
        const { deleted, bytesReclaimed } = await post("prune", rules);
        onDone(`Deleted ${countText(deleted, "checkpoint")}, ${bytesText(bytesReclaimed)}.`);
      }}>
      <label class="field"><span>Keep the newest</span><input type="number" min="1" value=${keepLast} onInput=${(event) => setKeepLast(Math.max(1, Math.floor(number(event))))} /></label>
      <label class="field"><span>Keep what is younger than (days, 0: no age)</span><input type="number" min="0" step="any" value=${days} onInput=${(event) => setDays(number(event))} /></label>
      <label class="check"><input type="checkbox" checked=${keepLabelled} onChange=${(event) => setKeepLabelled(event.target.checked)} /> Keep what has a label</label>
      <label class="check"><input type="checkbox" checked=${protectAncestors} onChange=${(event) => setProtect(event.target.checked)} /> Keep every ancestor of what is kept</label>
      <p class="preview" role="status">
        ${failure || (preview === undefined ? "Looking …" : preview.deleted === 0 ? "Nothing would go." : `Would delete ${countText(preview.deleted, "checkpoint")}${thread === undefined ? ` of ${countText(preview.threads, "thread")}` : ""} and give back ${bytesText(preview.bytesReclaimed)}.`)}
      </p>
    <//>
  `;
}
