import { html, useEffect, useRef, useState } from "../dom.js";

/** Asks before an action. If `act` fails, the reason is shown and the dialog stays open. Escape and Cancel close it. */
export function Dialog({ title, children, verb, danger = false, ready = true, act, onClose }) {
  const dialog = useRef(null);
  const [failure, setFailure] = useState("");
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    const opener = document.activeElement;
    dialog.current.showModal();
    return () => opener?.focus?.();
  }, []);
  const submit = async (event) => {
    event.preventDefault();
    if (!ready || busy) return;
    setBusy(true);
    setFailure("");
    try {
      await act();
      onClose();
    } catch (error) {
      setFailure(error.message);
      setBusy(false);
    }
  };
  return html`
    <dialog
      ref=${dialog}
      aria-labelledby="dialog-title"
      onCancel=${(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <form onSubmit=${submit}>
        <h2 id="dialog-title">${title}</h2>
        ${children}
        <p class="failure" role="alert">${failure}</p>
        <div class="buttons">
          <button type="button" onClick=${onClose}>Cancel</button>
          ${act && html`<button type="submit" class=${danger ? "danger" : "primary"} disabled=${!ready || busy}>${verb}</button>`}
        </div>
      </form>
    </dialog>
  `;
}

/** Parses the text of an editor as JSON: { value } or { fault }. */
export function parsedJson(text, isObject = false) {
  if (text.trim() === "") return { fault: isObject ? "" : "Nothing is entered." };
  try {
    const value = JSON.parse(text);
    if (isObject && (value === null || typeof value !== "object" || Array.isArray(value))) {
      return { fault: "It must be an object: { key: value, … }." };
    }
    return { value };
  } catch (error) {
    return { fault: error.message };
  }
}

/** Shows an editor of JSON that points out faults while typing. */
export function JsonEditor({ label, text, onText, fault, rows = 8, hint }) {
  return html`
    <label class="editor">
      <span>${label}</span>
      <textarea
        rows=${rows}
        spellcheck=${false}
        autocomplete="off"
        value=${text}
        aria-invalid=${fault !== undefined && fault !== ""}
        onInput=${(event) => onText(event.target.value)}
      ></textarea>
      <small class=${fault ? "fault" : ""} aria-live="polite">${fault || hint || ""}</small>
    </label>
  `;
}
