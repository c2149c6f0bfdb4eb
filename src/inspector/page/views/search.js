import { get } from "../api.js";
import { html, useEffect, useState } from "../dom.js";
import { Leaf } from "../parts/leaf.js";

/** Finds keys and values in a state. The server searches, since it has the whole state. */
export function StateSearch({ place, onPick, onCopy }) {
  const [query, setQuery] = useState("");
  const [found, setFound] = useState(undefined);
  useEffect(() => {
    if (query.trim() === "") {
      setFound(undefined);
      return undefined;
    }
    const controller = new AbortController();
    const timer = setTimeout(() => {
      get("state/search", { ...place, query: query.trim() }, controller.signal).then(setFound, () => undefined);
    }, 200);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [query]);
  return html`
    <div class="state-search">
      <input type="search" placeholder="Search the state" aria-label="Search the state" value=${query} onInput=${(event) => setQuery(event.target.value)} />
      <button type="button" onClick=${onCopy}>Copy all</button>
    </div>
    ${
      found &&
      html`
        <ul class="matches" aria-label="Places found">
          ${found.matches.map(
            ({ path, labels, summary }) => html`
              <li><button type="button" onClick=${() => onPick(path)}><code>${labels.join(" › ") || "(the state)"}</code> <${Leaf} node=${summary} /></button></li>
            `,
          )}
        </ul>
        <p class="about">${found.matches.length === 0 ? "Nothing found." : found.more ? "The first places found." : ""}</p>
      `
    }
  `;
}
