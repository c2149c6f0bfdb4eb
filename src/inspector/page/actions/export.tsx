import type { JSX } from "preact";
import { countText } from "../../../display/quantities.ts";
import { file } from "../api.ts";
import { Dialog } from "../parts/dialog.tsx";

interface ExportDialogProps {
  readonly thread?: string;
  readonly checkpoints?: number | undefined;
  readonly onClose: () => void;
}

/** Offers a thread, or the whole store without one, as a file. */
export function ExportDialog({ thread, checkpoints, onClose }: ExportDialogProps): JSX.Element {
  const title = thread === undefined ? "Export every thread" : "Export this thread";
  return (
    <Dialog title={title} verb="Download" onClose={onClose} act={async () => save(await file("export", { thread }))}>
      <p>
        {checkpoints === undefined ? "All checkpoints" : countText(checkpoints, "checkpoint")} as a bundle of lines that
        any store can import.
      </p>
    </Dialog>
  );
}

function save(bundle: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(bundle);
  link.download = "threadmark.bundle";
  link.click();
  // The browser holds on to the file by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
