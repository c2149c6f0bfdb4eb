import { useAnswer } from "./answer.js";
import { get } from "./api.js";
import { html, useEffect, useState } from "./dom.js";
import { useConnection } from "./live.js";
import { KeyHelp } from "./parts/keys.js";
import { routeAddress, useRoute } from "./route.js";
import { CheckpointPane } from "./views/checkpoint.js";
import { Storage } from "./views/storage.js";
import { ThreadPane } from "./views/thread.js";
import { Threads } from "./views/threads.js";

/** Shows the whole page: threads, a thread, a checkpoint of it; or the storage. */
export function App() {
  const route = useRoute();
  const { value: store, error } = useAnswer((signal) => get("store", {}, signal), []);
  const problem = useConnection();
  const [help, setHelp] = useState(false);
  const [notice, setNotice] = useState("");
  /** The checkpoints that the timeline has loaded, offered for comparison by the checkpoint's pane. */
  const [timeline, setTimeline] = useState({ rows: [], head: undefined });
  useTheme();
  useEffect(() => {
    const press = (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (event.key === "/") document.getElementById("search")?.focus();
      else if (event.key === "?") setHelp(true);
      else return;
      event.preventDefault();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
  useEffect(() => {
    document.title = route.thread === undefined ? "Threadmark" : `${route.thread} · Threadmark`;
  }, [route.thread]);
  useEffect(() => {
    if (notice === "") return undefined;
    const timer = setTimeout(() => setNotice(""), 6_000);
    return () => clearTimeout(timer);
  }, [notice]);

  const readOnly = store?.readOnly ?? true;
  const shown = route.view !== "thread" ? route.view : route.checkpoint === undefined ? "thread" : "checkpoint";
  return html`
    <header class="bar">
      <a class="brand" href="#/threads">Threadmark</a>
      <span class="place" title=${store?.url}>${store?.url ?? ""}${store?.readOnly ? " · read-only" : ""}</span>
      <nav aria-label="Views">
        <a href="#/threads" aria-current=${route.view === "storage" ? undefined : "page"}>Threads</a>
        <a href="#/storage" aria-current=${route.view === "storage" ? "page" : undefined}>Storage</a>
        <button type="button" onClick=${nextTheme} title="Light, dark, as the system has it">Theme</button>
        <button type="button" onClick=${() => setHelp(true)} aria-label="Keys">?</button>
      </nav>
    </header>
    ${(error || problem) && html`<p class="failure banner" role="alert">${problem || error.message}</p>`}
    <main data-shown=${shown}>
      ${
        route.view === "storage"
          ? html`<${Storage} readOnly=${readOnly} notify=${setNotice} />`
          : html`
              <${Threads} route=${route} />
              ${
                route.view === "thread"
                  ? html`
                      <${ThreadPane} key=${routeAddress({ thread: route.thread, namespace: route.namespace })}
                        route=${route} readOnly=${readOnly} onTimeline=${setTimeline} notify=${setNotice} />
                      <${CheckpointPane} route=${route} readOnly=${readOnly} timeline=${timeline} notify=${setNotice} />
                    `
                  : html`<p class="empty">Choose a thread.</p>`
              }
            `
      }
    </main>
    <p class="notice" role="status">${notice}</p>
    ${help && html`<${KeyHelp} onClose=${() => setHelp(false)} />`}
  `;
}

function isTyping(element) {
  return element.matches?.("input, textarea, select") || element.closest?.("dialog") !== null;
}

const THEMES = ["system", "light", "dark"];

function themeNow() {
  const theme = localStorage.getItem("theme");
  return THEMES.includes(theme) ? theme : "system";
}

function useTheme() {
  useEffect(() => {
    document.documentElement.dataset.theme = themeNow();
  }, []);
}

function nextTheme() {
  const theme = THEMES[(THEMES.indexOf(themeNow()) + 1) % THEMES.length];
  localStorage.setItem("theme", theme);
  document.documentElement.dataset.theme = theme;
}
