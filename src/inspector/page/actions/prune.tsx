import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { bytesText, countText } from "../../../display/quantities.ts";
import type { Pruned } from "../../api/answers.ts";
import { post } from "../api.ts";
import { Dialog } from "../parts/dialog.tsx";

const DAY = 86_400_000;

interface PruneDialogProps {
  readonly thread?: string;
  readonly onClose: () => void;
  readonly onDone: (text: string) => void;
}

/** Shows what a prune with these rules would delete, and does it when asked. Without a thread, prunes the whole store. */
export function PruneDialog({ thread, onClose, onDone }: PruneDialogProps): JSX.Element {
  const [keepLast, setKeepLast] = useState(10);
  const [days, setDays] = useState(0);
  const [keepLabelled, setKeepLabelled] = useState(true);
  const [protectAncestors, setProtect] = useState(false);
  const [preview, setPreview] = useState<Pruned | undefined>(undefined);
  const [failure, setFailure] = useState("");
  const rules = {
    thread,
    keepLast,
    keepLabelled,
    protectAncestors,
    ...(days > 0 && { olderThan: Math.round(days * DAY) }),
  };
  useEffect(() => {
    let isEnded = false;
    setPreview(undefined);
    const timer = setTimeout(() => {
      post<Pruned>("prune/preview", rules).then(
        (answer) => {
          if (!isEnded) setPreview(answer);
          setFailure("");
        },
        (error: Error) => setFailure(error.message),
      );
    }, 250);
    return () => {
      isEnded = true;
      clearTimeout(timer);
    };
  }, [keepLast, days, keepLabelled, protectAncestors]);
  const number = (text: string): number => Math.max(0, Number(text) || 0);
  return (
    <Dialog
      title={thread === undefined ? "Prune every thread" : "Prune this thread"}
      verb="Prune"
      danger
      ready={preview !== undefined && preview.deleted > 0}
      onClose={onClose}
      act={async () => {
        const { deleted, bytesReclaimed } = await post<Pruned>("prune", rules);
        onDone(`Deleted ${countText(deleted, "checkpoint")}, ${bytesText(bytesReclaimed)}.`);
      }}
    >
      <label class="field">
        <span>Keep the newest</span>
        <input
          type="number"
          min="1"
          value={keepLast}
          onInput={(event) => setKeepLast(Math.max(1, Math.floor(number(event.currentTarget.value))))}
        />
      </label>
      <label class="field">
        <span>Keep what is younger than (days, 0: no age)</span>
        <input
          type="number"
          min="0"
          step="any"
          value={days}
          onInput={(event) => setDays(number(event.currentTarget.value))}
        />
      </label>
      <label class="check">
        <input
          type="checkbox"
          checked={keepLabelled}
          onChange={(event) => setKeepLabelled(event.currentTarget.checked)}
        />{" "}
        Keep what has a label
      </label>
      <label class="check">
        <input
          type="checkbox"
          checked={protectAncestors}
          onChange={(event) => setProtect(event.currentTarget.checked)}
        />{" "}
        Keep every ancestor of what is kept
      </label>
      <p class="preview-line" role="status">
        {failure ||
          (preview === undefined
            ? "Looking …"
            : preview.deleted === 0
              ? "Nothing would go."
              : wouldDelete(preview, thread === undefined))}
      </p>
    </Dialog>
  );
}

function wouldDelete({ deleted, threads, bytesReclaimed }: Pruned, isStore: boolean): string {
  const where = isStore ? ` of ${countText(threads, "thread")}` : "";
  return `Would delete ${countText(deleted, "checkpoint")}${where} and give back ${bytesText(bytesReclaimed)}.`;
}
