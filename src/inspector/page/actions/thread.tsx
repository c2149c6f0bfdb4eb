import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { countText } from "../../../display/quantities.ts";
import type { ThreadInfo } from "../../api/answers.ts";
import { post } from "../api.ts";
import { copyText } from "../parts/copy.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Menu } from "../parts/menu.tsx";
import { filtersOf, go, type PageRoute } from "../route.ts";
import { ExportDialog } from "./export.tsx";
import { PruneDialog } from "./prune.tsx";

interface ThreadActionsProps {
  readonly thread: ThreadInfo;
  readonly route: PageRoute;
  readonly readOnly: boolean;
  readonly notify: (text: string) => void;
  readonly onDone: () => void;
}

/** Shows the actions on a thread; each that changes the store asks first. */
export function ThreadActions({ thread, route, readOnly, notify, onDone }: ThreadActionsProps): JSX.Element {
  const [open, setOpen] = useState("");
  const close = (): void => setOpen("");
  const { id, checkpoints } = thread;
  const entries = [
    { label: "Copy the name", act: () => void copyText(id).then(() => notify("The name is copied.")) },
    { label: "Compare …", act: () => setOpen("compare") },
    ...(readOnly
      ? []
      : [
          { label: "Export …", act: () => setOpen("export") },
          { label: "Prune …", act: () => setOpen("prune") },
          { label: "Delete …", act: () => setOpen("delete"), danger: true },
        ]),
  ];
  return (
    <>
      <Menu label="More with this thread" entries={entries} />
      {open === "compare" && <CompareDialog thread={thread} route={route} onClose={close} />}
      {open === "export" && <ExportDialog thread={id} checkpoints={checkpoints} onClose={close} />}
      {open === "prune" && (
        <PruneDialog
          thread={id}
          onClose={close}
          onDone={(text) => {
            notify(text);
            onDone();
          }}
        />
      )}
      {open === "delete" && (
        <Dialog
          title="Delete this thread?"
          verb="Delete"
          danger
          onClose={close}
          act={async () => {
            await post("delete", { thread: id });
            notify("The thread is deleted.");
            go({ view: "overview", ...filtersOf(route) });
          }}
        >
          <p>
            <b>{id}</b> and its {countText(checkpoints, "checkpoint")}. What was forked from it stays.
          </p>
        </Dialog>
      )}
    </>
  );
}

function CompareDialog({
  thread,
  route,
  onClose,
}: {
  readonly thread: ThreadInfo;
  readonly route: PageRoute;
  readonly onClose: () => void;
}): JSX.Element {
  const [other, setOther] = useState(thread.forkedFrom?.thread ?? "");
  return (
    <Dialog
      title="Compare with another thread"
      verb="Compare"
      ready={other !== ""}
      onClose={onClose}
      act={async () => go({ ...filtersOf(route), view: "compare", thread: thread.id, other })}
    >
      <label class="field">
        <span>The other thread</span>
        <input value={other} onInput={(event) => setOther(event.currentTarget.value)} />
      </label>
    </Dialog>
  );
}
