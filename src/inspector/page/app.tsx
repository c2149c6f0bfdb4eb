import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { OverviewFacts, StoreFacts } from "../api/answers.ts";
import { useAnswer } from "./answer.ts";
import { get } from "./api.ts";
import { keep, kept } from "./kept.ts";
import { useConnection, useLive } from "./live.ts";
import { Copy } from "./parts/copy.tsx";
import { KeyHelp } from "./parts/keys.tsx";
import { usePaneWidth } from "./parts/panes.tsx";
import { addressOfRoute, filtersOf, go, type PageRoute, useRoute, type View } from "./route.ts";
import { CompareView } from "./views/compare.tsx";
import { FailuresView } from "./views/failures.tsx";
import { InboxView } from "./views/inbox.tsx";
import { Overview } from "./views/overview.tsx";
import { Palette } from "./views/palette.tsx";
import { Storage } from "./views/storage.tsx";
import { ThreadView } from "./views/thread.tsx";
import { Threads } from "./views/threads.tsx";

const LINKS: readonly (readonly [View, string])[] = [
  ["overview", "Overview"],
  ["threads", "Threads"],
  ["inbox", "Inbox"],
  ["failures", "Failures"],
  ["storage", "Storage"],
];

/** Shows the whole page: threads and a thread with a checkpoint of it; or the overview, inbox, failures, storage. */
export function App(): JSX.Element {
  const route = useRoute();
  const { value: store, error } = useAnswer((signal) => get<StoreFacts>("store", {}, signal), []);
  const problem = useConnection();
  const [help, setHelp] = useState(false);
  const [palette, setPalette] = useState(false);
  const [notice, setNotice] = useState("");
  useTheme();
  useKeys(route, setHelp, setPalette);
  useEffect(() => {
    const place = route.thread || LINKS.find(([view]) => view === route.view)?.[1];
    document.title = route.view === "overview" ? "Threadmark" : `${place} · Threadmark`;
  }, [route.thread, route.view]);
  useEffect(() => {
    if (notice === "") return undefined;
    const timer = setTimeout(() => setNotice(""), 6_000);
    return () => clearTimeout(timer);
  }, [notice]);

  const readOnly = store?.readOnly ?? true;
  const shown = route.view !== "thread" ? route.view : route.checkpoint === undefined ? "thread" : "checkpoint";
  return (
    <>
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          document.getElementById("main")?.focus();
        }}
      >
        To the content
      </a>
      <header class="bar">
        <a class="brand" href={addressOfRoute({ ...filtersOf(route), view: "overview" })}>
          Threadmark
        </a>
        <span class="place" title={store?.url}>
          {store && (
            <Copy text={store.url} label="Copy the store's address">
              {store.url}
            </Copy>
          )}
          {store?.readOnly && <span class="tag">read-only</span>}
        </span>
        <button type="button" class="search-button" onClick={() => setPalette(true)} aria-keyshortcuts="Control+K">
          <span>Search</span> <kbd>Ctrl K</kbd>
        </button>
        <Navigation route={route} />
        <button
          type="button"
          class="icon"
          onClick={nextTheme}
          aria-label="Theme"
          title="Theme: light, dark, as the system has it"
        >
          ◐
        </button>
        <button type="button" class="icon" onClick={() => setHelp(true)} aria-label="Keys" title="Keys">
          ?
        </button>
      </header>
      {(error || problem) && (
        <p class="failure banner" role="alert">
          {problem || error?.message}
        </p>
      )}
      <main id="main" data-shown={shown} tabIndex={-1}>
        <Content route={route} store={store} readOnly={readOnly} notify={setNotice} />
      </main>
      <p class="notice" role="status">
        {notice}
      </p>
      {help && <KeyHelp onClose={() => setHelp(false)} />}
      {palette && <Palette route={route} onClose={() => setPalette(false)} />}
    </>
  );
}

function Navigation({ route }: { readonly route: PageRoute }): JSX.Element {
  const { value } = useLive<OverviewFacts>("overview");
  const counts: Partial<Record<View, number>> = {
    inbox: value?.statuses.waiting ?? 0,
    failures: value?.statuses.failed ?? 0,
  };
  const current = route.view === "thread" || route.view === "compare" ? "threads" : route.view;
  return (
    <nav aria-label="Views">
      {LINKS.map(([view, name]) => (
        <a
          key={view}
          class={`to-${view}`}
          href={addressOfRoute({ ...filtersOf(route), view })}
          aria-current={current === view ? "page" : undefined}
        >
          {name}
          {(counts[view] ?? 0) > 0 && <span class={`badge badge-${view}`}>{counts[view]!.toLocaleString("en")}</span>}
        </a>
      ))}
    </nav>
  );
}

interface ContentProps {
  readonly route: PageRoute;
  readonly store: StoreFacts | undefined;
  readonly readOnly: boolean;
  readonly notify: (text: string) => void;
}

function Content({ route, store, readOnly, notify }: ContentProps): JSX.Element {
  const { width, bar } = usePaneWidth("threads", 300, 200, 560);
  if (route.view === "storage") return <Storage readOnly={readOnly} notify={notify} />;
  const app = store?.app ?? null;
  if (route.view === "inbox") return <InboxView route={route} readOnly={readOnly} app={app} notify={notify} />;
  if (route.view === "failures") return <FailuresView route={route} />;
  if (route.view === "compare") return <CompareView route={route} />;
  return (
    <>
      <div class="threads-box" style={{ "--pane": `${width}px` }}>
        <Threads route={route} />
      </div>
      {bar}
      {route.view === "thread" ? (
        <ThreadView
          key={JSON.stringify([route.thread, route.namespace])}
          route={route}
          readOnly={readOnly}
          app={app}
          notify={notify}
        />
      ) : (
        <Overview route={route} store={store} />
      )}
    </>
  );
}

/** Listens for keys that mean the same everywhere; those of a thread are passed on to it. */
function useKeys(route: PageRoute, setHelp: (open: boolean) => void, setPalette: (open: boolean) => void): void {
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        setPalette(true);
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isTyping(event.target as Element))
        return;
      const views: Readonly<Record<string, View>> = { i: "inbox", f: "failures", o: "overview" };
      const view = views[event.key];
      if (event.key === "/") {
        if (document.getElementById("search") === null) go({ ...filtersOf(route), view: "threads" });
        requestAnimationFrame(() => document.getElementById("search")?.focus());
      } else if (event.key === "?") setHelp(true);
      else if (view !== undefined) go({ ...filtersOf(route), view });
      else if (/^[1-5]$/.test(event.key))
        document.querySelectorAll<HTMLElement>('.detail [role="tab"]')[Number(event.key) - 1]?.click();
      else if (["j", "k", "g"].includes(event.key))
        dispatchEvent(new CustomEvent("page-key", { detail: { key: event.key } }));
      else return;
      event.preventDefault();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  });
}

function isTyping(element: Element): boolean {
  return (
    element.matches?.("input:not([type=checkbox]):not([type=range]), textarea, select") ||
    element.closest?.("dialog") !== null
  );
}

const THEMES = ["system", "light", "dark"];

function themeNow(): string {
  const theme = kept("theme", "system");
  return THEMES.includes(theme) ? theme : "system";
}

function useTheme(): void {
  useEffect(() => {
    document.documentElement.dataset["theme"] = themeNow();
  }, []);
}

function nextTheme(): void {
  const theme = THEMES[(THEMES.indexOf(themeNow()) + 1) % THEMES.length]!;
  keep("theme", theme);
  document.documentElement.dataset["theme"] = theme;
}
