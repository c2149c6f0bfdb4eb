import type { JSX } from "preact";
import { Dialog } from "./dialog.tsx";

const KEYS = [
  ["Ctrl K", "search everything: threads, labels, texts in states"],
  ["/", "search threads"],
  ["j k", "the older and the newer step"],
  ["g", "jump to a step"],
  ["↑ ↓ Page Up Page Down Home End", "move in a list or the state"],
  ["Enter", "open what is marked"],
  ["Shift Enter, or Shift and click", "in a timeline: compare the open checkpoint with this one"],
  ["→ ←", "in the state: open and close"],
  ["c", "in the state: copy as JSON"],
  ["b", "in the state: which step made this value what it is"],
  ["1 … 5", "the parts of a checkpoint"],
  ["i f o", "inbox, failures, overview"],
  ["Escape", "close a dialog or a menu"],
  ["?", "this list"],
] as const;

export function KeyHelp({ onClose }: { readonly onClose: () => void }): JSX.Element {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl class="facts">
        {KEYS.map(([key, meaning]) => (
          <>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{meaning}</dd>
          </>
        ))}
      </dl>
    </Dialog>
  );
}
