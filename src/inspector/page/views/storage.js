import { ExportDialog } from "../actions/export.js";
import { PruneDialog } from "../actions/prune.js";
import { post } from "../api.js";
import { html, useEffect, useState } from "../dom.js";
import { refresh, useLive } from "../live.js";
import { ageText, bytesText, countText } from "../parts/format.js";
import { Plot } from "../parts/plot.js";
import { routeAddress } from "../route.js";

const KINDS = [
  ["packs", "older checkpoints, sealed"],
  ["tail", "newest checkpoints"],
  ["writes", "results of tasks"],
  ["metadata", "threads and labels"],
  ["index", "finding checkpoints"],
  ["directory", "finding threads"],
];

/** Shows where the bytes are. The first visit starts a measurement of all threads in the background. */
export function Storage({ readOnly, notify }) {
  const { value: facts } = useLive("storage", { limit: 100 });
  const [open, setOpen] = useState("");
  const close = () => setOpen("");
  const measure = async () => {
    await post("storage/measure", {});
    refresh();
  };
  useEffect(() => {
    if (facts?.state === "none") void measure();
  }, [facts?.state]);
  const {
    stats,
    growth = [],
    sizes = [],
    prunes = [],
    state,
    measured,
    threads,
    total,
    message,
    finishedAt,
  } = facts ?? {};
  return html`
    <section class="pane storage" aria-label="Storage">
      <div class="title">
        <h1>Storage</h1>
        <div class="actions">
          <button type="button" disabled=${state === "running"} onClick=${measure}>Measure again</button>
          ${!readOnly && html`<button type="button" onClick=${() => setOpen("export")}>Export …</button>`}
          ${!readOnly && html`<button type="button" onClick=${() => setOpen("prune")}>Prune …</button>`}
        </div>
      </div>
      <p class="about" role="status">
        ${state === "running" ? `Measuring: ${measured.toLocaleString("en")} of ${threads.toLocaleString("en")} threads` : ""}
        ${state === "failed" ? message : ""}
        ${state === "done" ? `Measured ${ageText(finishedAt, Date.now())}` : ""}
      </p>
      ${stats && html`<${Totals} stats=${stats} />`}
      ${growth.length > 1 && html`<h2>Growth</h2><${Plot} points=${growth} label="Bytes of checkpoints by when they were committed" />`}
      ${prunes.length > 0 && html`<h2>What a prune would give back</h2><${Prunes} prunes=${prunes} />`}
      ${sizes.length > 0 && html`<h2>By thread</h2><${Sizes} sizes=${sizes} total=${total} />`}
    </section>
    ${open === "export" && html`<${ExportDialog} checkpoints=${stats?.checkpoints} onClose=${close} />`}
    ${
      open === "prune" &&
      html`<${PruneDialog} onClose=${close} onDone=${(text) => {
        notify(text);
        void measure();
      }} />`
    }
  `;
}

function Totals({ stats }) {
  const { threads, checkpoints, bytes } = stats;
  const sum = KINDS.reduce((total, [kind]) => total + bytes[kind], 0);
  return html`
    <p class="big"><b>${bytesText(bytes.total)}</b> on the medium, ${countText(threads, "thread")}, ${countText(checkpoints, "checkpoint")}</p>
    <div class="stack" aria-hidden="true">
      ${KINDS.map(([kind]) => html`<span class=${`kind ${kind}`} style=${{ flexGrow: bytes[kind] }}></span>`)}
    </div>
    <table class="kinds">
      <caption class="hidden">Bytes by kind</caption>
      <tbody>
        ${KINDS.map(
          ([kind, meaning]) => html`
            <tr>
              <th scope="row"><span class=${`swatch kind ${kind}`} aria-hidden="true"></span> ${kind}</th>
              <td>${bytesText(bytes[kind])}</td>
              <td>${sum === 0 ? "" : `${Math.round((100 * bytes[kind]) / sum)} %`}</td>
              <td class="meaning">${meaning}</td>
            </tr>
          `,
        )}
      </tbody>
    </table>
  `;
}

function Prunes({ prunes }) {
  return html`
    <table class="prunes">
      <caption class="hidden">What a prune of every thread would give back; labelled checkpoints stay</caption>
      <thead>
        <tr><th scope="col">Keep of each thread</th><th scope="col">Gives back</th><th scope="col">Checkpoints</th><th scope="col">Threads</th></tr>
      </thead>
      <tbody>
        ${prunes.map(
          ({ keepLast, threads, deleted, bytesReclaimed }) => html`
            <tr>
              <th scope="row">${keepLast === 1 ? "the newest" : `the newest ${keepLast}`}, and what is labelled</th>
              <td>${bytesText(bytesReclaimed)}</td>
              <td>${deleted.toLocaleString("en")}</td>
              <td>${threads.toLocaleString("en")}</td>
            </tr>
          `,
        )}
      </tbody>
    </table>
  `;
}

function Sizes({ sizes, total }) {
  return html`
    <div class="scroll" tabindex="0" role="region" aria-label="Bytes by thread">
      <table class="sizes">
        <thead>
          <tr><th scope="col">Thread</th><th scope="col">Bytes</th><th scope="col">Checkpoints</th>
            ${["packs", "tail", "writes", "metadata", "index"].map((kind) => html`<th scope="col">${kind}</th>`)}</tr>
        </thead>
        <tbody>
          ${sizes.map(
            ({ thread, bytes, checkpoints }) => html`
              <tr>
                <th scope="row"><a href=${routeAddress({ thread })}>${thread}</a></th>
                <td>${bytesText(bytes.total)}</td>
                <td>${checkpoints.toLocaleString("en")}</td>
                ${["packs", "tail", "writes", "metadata", "index"].map((kind) => html`<td>${bytesText(bytes[kind])}</td>`)}
              </tr>
            `,
          )}
        </tbody>
      </table>
    </div>
    ${total > sizes.length && html`<p class="about">The largest ${sizes.length} of ${total.toLocaleString("en")}. A fork counts without what it shares with its source.</p>`}
  `;
}
