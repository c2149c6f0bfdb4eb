import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

interface DialogProps {
  readonly title: string;
  readonly children: ComponentChildren;
  readonly verb?: string;
  readonly danger?: boolean;
  readonly ready?: boolean;
  readonly act?: () => Promise<void>;
  readonly onClose: () => void;
}

/** Asks before an action. If `act` fails, the reason is shown and the dialog stays open. Escape and Cancel close it. */
export function Dialog({
  title,
  children,
  verb,
  danger = false,
  ready = true,
  act,
  onClose,
}: DialogProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const [failure, setFailure] = useState("");
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    const opener = document.activeElement;
    dialog.current!.showModal();
    return () => {
      if (opener instanceof HTMLElement) opener.focus();
    };
  }, []);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (!ready || busy || act === undefined) return;
    setBusy(true);
    setFailure("");
    try {
      await act();
      onClose();
    } catch (error) {
      setFailure(error instanceof Error ? error.message : String(error));
      setBusy(false);
    }
  };
  return (
    <dialog
      ref={dialog}
      aria-labelledby="dialog-title"
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <form onSubmit={(event) => void submit(event)}>
        <h2 id="dialog-title">{title}</h2>
        {children}
        <p class="failure" role="alert">
          {failure}
        </p>
        <div class="buttons">
          <button type="button" onClick={onClose}>
            {act === undefined ? "Close" : "Cancel"}
          </button>
          {act && (
            <button type="submit" class={danger ? "danger" : "primary"} disabled={!ready || busy}>
              {verb}
            </button>
          )}
        </div>
      </form>
    </dialog>
  );
}

/** The text of an editor as JSON: its value, or its fault. */
export interface ParsedJson {
  readonly value?: unknown;
  readonly fault?: string;
}

export function parsedJson(text: string, isObject = false): ParsedJson {
  if (text.trim() === "") return { fault: isObject ? "" : "Nothing is entered." };
  try {
    const value: unknown = JSON.parse(text);
    if (isObject && (value === null || typeof value !== "object" || Array.isArray(value))) {
      return { fault: "It must be an object: { key: value, … }." };
    }
    return { value };
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) };
  }
}

interface JsonEditorProps {
  readonly label: string;
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly fault: string | undefined;
  readonly rows?: number;
  readonly hint?: string;
}

/** Shows an editor of JSON that points out faults while typing. */
export function JsonEditor({ label, text, onText, fault, rows = 8, hint }: JsonEditorProps): JSX.Element {
  return (
    <label class="editor">
      <span>{label}</span>
      <textarea
        rows={rows}
        spellcheck={false}
        autocomplete="off"
        value={text}
        aria-invalid={fault !== undefined && fault !== ""}
        onInput={(event) => onText(event.currentTarget.value)}
      />
      <small class={fault ? "fault" : ""} aria-live="polite">
        {fault || hint || ""}
      </small>
    </label>
  );
}
