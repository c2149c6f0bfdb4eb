import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { stepName } from "../../../display/steps/step-name.ts";
import type { CheckpointFacts, StateNode } from "../../api/answers.ts";
import { get, post } from "../api.ts";
import { copyText } from "../parts/copy.tsx";
import { Dialog, JsonEditor, parsedJson } from "../parts/dialog.tsx";
import { Menu } from "../parts/menu.tsx";
import { go, type PageRoute } from "../route.ts";

interface Place {
  readonly thread: string;
  readonly namespace: readonly string[];
  readonly checkpoint: string;
}

interface CheckpointActionsProps {
  readonly facts: CheckpointFacts;
  readonly route: PageRoute;
  readonly readOnly: boolean;
  readonly onDone: (text: string) => void;
}

/** Shows the actions on a checkpoint; each that changes the store asks first. */
export function CheckpointActions({ facts, route, readOnly, onDone }: CheckpointActionsProps): JSX.Element {
  const [open, setOpen] = useState("");
  const { checkpoint } = facts;
  const place = { thread: route.thread, namespace: route.namespace, checkpoint: checkpoint.id };
  const close = (): void => setOpen("");
  const isRoot = route.namespace.length === 0;
  const link = (): void => {
    const { href } = location;
    void copyText(href).then(() => onDone("The link is copied. It opens in a tab that has the token."));
  };
  const entries = [
    { label: "Copy link", act: link },
    ...(readOnly ? [] : [{ label: "Label …", act: () => setOpen("label") }]),
    ...(readOnly ? [] : [{ label: "Delete …", act: () => setOpen("delete"), danger: true }]),
  ];
  return (
    <>
      {isRoot && !readOnly && (
        <button type="button" onClick={() => setOpen("fork")}>
          Fork …
        </button>
      )}
      <Menu label="More with this checkpoint" entries={entries} />
      {open === "fork" && <ForkDialog place={place} onClose={close} />}
      {open === "label" && <LabelDialog place={place} label={checkpoint.label} onClose={close} onDone={onDone} />}
      {open === "delete" && (
        <Dialog
          title="Delete this checkpoint?"
          verb="Delete"
          danger
          onClose={close}
          act={async () => {
            await post("delete", place);
            onDone("The checkpoint is deleted.");
            go({ ...route, checkpoint: undefined, base: undefined, path: undefined });
          }}
        >
          <p>
            Step {checkpoint.step}, {stepName(checkpoint)}. Its children go on from its parent; no other state changes.
          </p>
        </Dialog>
      )}
    </>
  );
}

function ForkDialog({ place, onClose }: { readonly place: Place; readonly onClose: () => void }): JSX.Element {
  const [name, setName] = useState("");
  const [label, setLabel] = useState("");
  const [text, setText] = useState("");
  const [keys, setKeys] = useState<readonly string[]>([]);
  useEffect(() => {
    get<{ name: string }>("free-name", { thread: place.thread }).then(
      (answer) => setName(answer.name),
      () => undefined,
    );
    get<StateNode>("state", { ...place, limit: 500 }).then(
      ({ type, children = [], internal }) =>
        setKeys(type === "object" ? children.slice(0, children.length - internal).map(({ step }) => String(step)) : []),
      () => undefined,
    );
  }, []);
  const { value: edits, fault } = parsedJson(text, true);
  /** Puts the current value of a key into the editor. */
  const take = async (key: string): Promise<void> => {
    if (key === "") return;
    const { value } = await get<{ value: unknown }>("state/value", { ...place, path: [key] });
    const known = (parsedJson(text, true).value ?? {}) as Record<string, unknown>;
    setText(JSON.stringify({ ...known, [key]: value }, null, 2));
  };
  return (
    <Dialog
      title="Fork here"
      verb="Fork"
      ready={name !== "" && !fault}
      onClose={onClose}
      act={async () => {
        const made = await post<{ thread: string }>("fork", {
          ...place,
          into: name,
          ...(label !== "" && { label }),
          ...(edits !== undefined && { edits }),
        });
        go({ view: "thread", thread: made.thread });
      }}
    >
      <p>A new thread that begins with this checkpoint and its past. This thread is not changed.</p>
      <label class="field">
        <span>Name</span>
        <input value={name} maxLength={512} onInput={(event) => setName(event.currentTarget.value)} />
      </label>
      <label class="field">
        <span>Label (optional)</span>
        <input value={label} onInput={(event) => setLabel(event.currentTarget.value)} />
      </label>
      <label class="field">
        <span>Edit a key of the state</span>
        <select value="" onChange={(event) => void take(event.currentTarget.value)}>
          <option value="">choose …</option>
          {keys.map((key) => (
            <option key={key} value={key}>
              {key}
            </option>
          ))}
        </select>
      </label>
      <JsonEditor
        label="Edits: keys of the state and their new values"
        text={text}
        onText={setText}
        fault={fault}
        hint={'Empty: no edits. Types that JSON lacks are tagged: { "$": "date", "v": 0 }.'}
      />
    </Dialog>
  );
}

interface LabelDialogProps {
  readonly place: Place;
  readonly label: string;
  readonly onClose: () => void;
  readonly onDone: (text: string) => void;
}

function LabelDialog({ place, label, onClose, onDone }: LabelDialogProps): JSX.Element {
  const [text, setText] = useState(label);
  return (
    <Dialog
      title="Label this checkpoint"
      verb="Save"
      onClose={onClose}
      act={async () => {
        await post("label", { ...place, label: text });
        onDone(text === "" ? "The label is removed." : "The label is saved.");
      }}
    >
      <label class="field">
        <span>Label</span>
        <input value={text} onInput={(event) => setText(event.currentTarget.value)} />
      </label>
    </Dialog>
  );
}
