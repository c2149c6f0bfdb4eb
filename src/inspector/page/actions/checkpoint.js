import { get, post } from "../api.js";
import { html, useEffect, useState } from "../dom.js";
import { Dialog, JsonEditor, parsedJson } from "../parts/dialog.js";
import { Leaf } from "../parts/leaf.js";
import { go } from "../route.js";
import { StateTree } from "../views/tree.js";

/** Shows the actions on a checkpoint; each asks first. */
export function CheckpointActions({ facts, route, onDone }) {
  const [open, setOpen] = useState("");
  const { checkpoint } = facts;
  const place = { thread: route.thread, namespace: route.namespace, checkpoint: checkpoint.id };
  const close = () => setOpen("");
  const isRoot = route.namespace.length === 0;
  return html`
    <div class="actions">
      ${isRoot && html`<button type="button" onClick=${() => setOpen("fork")}>Fork …</button>`}
      <button type="button" onClick=${() => setOpen("label")}>Label …</button>
      <button type="button" onClick=${() => setOpen("delete")}>Delete …</button>
    </div>
    ${open === "fork" && html`<${ForkDialog} place=${place} onClose=${close} />`}
    ${open === "label" && html`<${LabelDialog} place=${place} label=${checkpoint.label} onClose=${close} onDone=${onDone} />`}
    ${
      open === "delete" &&
      html`
        <${Dialog} title="Delete this checkpoint?" verb="Delete" danger onClose=${close}
          act=${async () => {
            await post("delete", place);
            onDone("The checkpoint is deleted.");
            go({ thread: route.thread, namespace: route.namespace });
          }}>
          <p>Step ${checkpoint.step}, ${checkpoint.node ?? checkpoint.source}. Its children go on from its parent; no other state changes.</p>
        <//>
      `
    }
  `;
}

function ForkDialog({ place, onClose }) {
  const [name, setName] = useState("");
  const [label, setLabel] = useState("");
  const [text, setText] = useState("");
  const [keys, setKeys] = useState([]);
  useEffect(() => {
    get("free-name", { thread: place.thread }).then(
      (answer) => setName(answer.name),
      () => undefined,
    );
    get("state", { ...place, limit: 500 }).then(
      ({ type, children }) => setKeys(type === "object" ? children : []),
      () => undefined,
    );
  }, []);
  const { value: edits, fault } = parsedJson(text, true);
  /** Puts the current value of a key into the editor. */
  const take = async (key) => {
    if (key === "") return;
    const { value } = await get("state/value", { ...place, path: [key] });
    const known = parsedJson(text, true).value ?? {};
    setText(JSON.stringify({ ...known, [key]: value }, null, 2));
  };
  return html`
    <${Dialog} title="Fork here" verb="Fork" ready=${name !== "" && !fault} onClose=${onClose}
      act=${async () => {
        const made = await post("fork", {
          ...place,
          into: name,
          ...(label !== "" && { label }),
          ...(edits && { edits }),
        });
        go({ thread: made.thread });
      }}>
      <p>A new thread that begins with this checkpoint and its past. This thread is not changed.</p>
      <label class="field"><span>Name</span><input value=${name} maxlength="512" onInput=${(event) => setName(event.target.value)} /></label>
      <label class="field"><span>Label (optional)</span><input value=${label} onInput=${(event) => setLabel(event.target.value)} /></label>
      <label class="field">
        <span>Edit a key of the state</span>
        <select value="" onChange=${(event) => take(event.target.value)}>
          <option value="">choose …</option>
          ${keys.map(({ step }) => html`<option value=${step}>${step}</option>`)}
        </select>
      </label>
      <${JsonEditor} label="Edits: keys of the state and their new values" text=${text} onText=${setText} fault=${fault}
        hint="Empty: no edits. What JSON has no form for is tagged, like { &quot;$&quot;: &quot;date&quot;, &quot;v&quot;: 0 }." />
    <//>
  `;
}

function LabelDialog({ place, label, onClose, onDone }) {
  const [text, setText] = useState(label);
  return html`
    <${Dialog} title="Label this checkpoint" verb="Save" onClose=${onClose}
      act=${async () => {
        await post("label", { ...place, label: text });
        onDone(text === "" ? "The label is removed." : "The label is saved.");
      }}>
      <label class="field"><span>Label</span><input value=${text} onInput=${(event) => setText(event.target.value)} /></label>
    <//>
  `;
}

/** Shows a question that the thread waits with, and its answer. */
export function InterruptCard({ interrupt, route, readOnly, isHead, onDone }) {
  const [open, setOpen] = useState(false);
  const { id, node, position, value, answered } = interrupt;
  const place = { thread: route.thread, namespace: route.namespace, checkpoint: route.checkpoint };
  return html`
    <section class="interrupt" aria-label=${`Question of ${node}`}>
      <p><b>${node}</b> asks <code>${id}</code>${answered ? html` <span class="tag">answered, for the runner to pick up</span>` : ""}</p>
      ${value.parts > 0 ? html`<${StateTree} key=${`${route.checkpoint}/${id}`} place=${{ ...place, of: "interrupts" }} at=${[position, "value"]} />` : html`<p><${Leaf} node=${value} /></p>`}
      ${!readOnly && isHead && html`<button type="button" class="primary" onClick=${() => setOpen(true)}>${answered ? "Answer again …" : "Answer …"}</button>`}
      ${open && html`<${AnswerDialog} place=${place} interrupt=${interrupt} onClose=${() => setOpen(false)} onDone=${onDone} />`}
    </section>
  `;
}

function AnswerDialog({ place, interrupt, onClose, onDone }) {
  const [text, setText] = useState("true");
  const [asText, setAsText] = useState(false);
  const { value, fault } = asText ? { value: text } : parsedJson(text);
  return html`
    <${Dialog} title=${`Answer ${interrupt.node}`} verb="Answer" ready=${!fault} onClose=${onClose}
      act=${async () => {
        await post("answer", { ...place, interrupt: interrupt.id, value });
        onDone("The answer is stored. Whoever runs the thread next picks it up.");
      }}>
      <p>The answer is stored with the thread. Nothing runs here: the next runner picks it up.</p>
      <${JsonEditor} label=${asText ? "Answer, a text" : "Answer, as JSON"} text=${text} onText=${setText} fault=${fault} rows=${5} />
      <label class="check"><input type="checkbox" checked=${asText} onChange=${(event) => setAsText(event.target.checked)} /> It is a plain text</label>
    <//>
  `;
}
