import { useAnswer } from "../answer.js";
import { get } from "../api.js";
import { html } from "../dom.js";
import { countText, pathText } from "../parts/format.js";
import { Leaf } from "../parts/leaf.js";
import { replaceRoute } from "../route.js";

const OFFERED = 300;

/** Shows the differences between this checkpoint and another: its parent, unless another was picked. */
export function Changes({ route, facts, timeline }) {
  const { thread, namespace } = route;
  const { id, parent } = facts.checkpoint;
  const before = route.base ?? parent ?? undefined;
  const { value, error, loading } = useAnswer(
    async (signal) =>
      before === undefined ? undefined : get("diff", { thread, namespace, before, after: id }, signal),
    [thread, JSON.stringify(namespace), before, id],
  );
  const others = timeline.rows.filter((row) => row.id !== id && row.id !== parent).slice(0, OFFERED);
  if (route.base !== undefined && !others.some((row) => row.id === route.base) && route.base !== parent) {
    others.unshift({ id: route.base, step: "?", node: route.base });
  }
  return html`
    <label class="compare">
      Compared with
      <select
        value=${route.base ?? ""}
        onChange=${(event) => replaceRoute({ ...route, base: event.target.value || undefined, tab: "changes" })}
      >
        <option value="">${parent === null ? "nothing: it is the first" : "its parent"}</option>
        ${others.map((row) => html`<option value=${row.id}>step ${row.step} · ${row.node ?? row.source} · ${row.id.slice(-8)}</option>`)}
      </select>
    </label>
    ${error && html`<p class="failure" role="alert">${error.message}</p>`}
    ${before === undefined && html`<p class="empty">The first checkpoint: all of its state is new.</p>`}
    ${loading && value === undefined && before !== undefined && html`<p class="empty">…</p>`}
    ${value && html`<p class="about">${value.total === 0 ? "The states are equal." : countText(value.total, "change")}</p>`}
    <ul class="changes">
      ${value?.changes.map(
        ({ path, kind, before: old, after }) => html`
          <li class=${kind}>
            <code class="path"><span aria-label=${kind}>${{ added: "+", removed: "−", changed: "~" }[kind]}</span> ${pathText(path)}</code>
            ${old && html`<div class="old"><${Preview} node=${old} /></div>`}
            ${after && html`<div class="new"><${Preview} node=${after} /></div>`}
          </li>
        `,
      )}
    </ul>
    ${value && value.total > value.changes.length && html`<p class="about">The first ${value.changes.length} are shown.</p>`}
  `;
}

/** Shows a value with the parts that were sent along. */
function Preview({ node }) {
  const { children, parts } = node;
  if (children === undefined) return html`<${Leaf} node=${node} />`;
  return html`
    <${Leaf} node=${node} />
    <ul class="parts">
      ${children.map((part) => html`<li><span class="key">${part.label}</span><${Preview} node=${part} /></li>`)}
      ${parts > children.length && html`<li class="more">… ${(parts - children.length).toLocaleString("en")} more</li>`}
    </ul>
  `;
}
