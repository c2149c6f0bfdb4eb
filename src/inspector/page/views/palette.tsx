import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { SearchLine } from "../../api/answers.ts";
import { lines } from "../api.ts";
import { Marked } from "../parts/leaf.tsx";
import { filtersOf, go, type PageRoute } from "../route.ts";

type Match = Exclude<SearchLine, { readonly kind: "progress" }>;

const KINDS = { thread: "Threads", label: "Labels", state: "In states" } as const;

/** Searches the whole store. Places appear as they are found; Escape, or another text, stops the search. */
export function Palette({ route, onClose }: { readonly route: PageRoute; readonly onClose: () => void }): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const [query, setQuery] = useState("");
  const [found, setFound] = useState<readonly Match[]>([]);
  const [progress, setProgress] = useState<Extract<SearchLine, { readonly kind: "progress" }> | undefined>(undefined);
  const [failure, setFailure] = useState("");
  const [marked, setMarked] = useState(0);
  const stop = useRef<AbortController | undefined>(undefined);
  useEffect(() => {
    const opener = document.activeElement;
    dialog.current!.showModal();
    return () => {
      stop.current?.abort();
      if (opener instanceof HTMLElement) opener.focus();
    };
  }, []);
  useEffect(() => {
    setFound([]);
    setMarked(0);
    setProgress(undefined);
    setFailure("");
    const wanted = query.trim();
    if (wanted === "") return undefined;
    const controller = new AbortController();
    stop.current = controller;
    const timer = setTimeout(() => void search(wanted, controller.signal), 150);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [query.trim()]);
  const search = async (wanted: string, signal: AbortSignal): Promise<void> => {
    try {
      for await (const line of lines<SearchLine>("search", { query: wanted }, signal)) {
        if (signal.aborted) return;
        if (line.kind === "progress") setProgress(line);
        else setFound((before) => (before.length < 300 ? [...before, line] : before));
      }
    } catch (error) {
      if (!signal.aborted) setFailure(error instanceof Error ? error.message : String(error));
    }
  };
  const sorted = (["thread", "label", "state"] as const).flatMap((kind) =>
    found.filter((match) => match.kind === kind),
  );
  const open = (match: Match | undefined): void => {
    if (match === undefined) return;
    onClose();
    const place = { ...filtersOf(route), view: "thread" as const, thread: match.thread };
    if (match.kind === "thread") go(place);
    else if (match.kind === "label") go({ ...place, checkpoint: match.checkpoint });
    else go({ ...place, checkpoint: match.checkpoint, tab: "state", path: match.steps });
  };
  const press = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      const next = Math.max(0, Math.min(sorted.length - 1, marked + step));
      setMarked(next);
      document.getElementById(`found-${next}`)?.scrollIntoView({ block: "nearest" });
    } else if (event.key === "Enter") open(sorted[marked]);
    else return;
    event.preventDefault();
  };
  const isRunning =
    query.trim() !== "" && progress?.done !== true && failure === "" && stop.current?.signal.aborted === false;
  return (
    <dialog
      ref={dialog}
      class="palette"
      aria-label="Search everything"
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        if (event.target === dialog.current) onClose();
      }}
    >
      <input
        type="text"
        list={undefined}
        role="combobox"
        aria-expanded={sorted.length > 0}
        aria-controls="found"
        aria-activedescendant={sorted.length > 0 ? `found-${marked}` : undefined}
        aria-label="Search everything"
        placeholder="Threads, workflows, attributes, labels, texts in states"
        value={query}
        onInput={(event) => setQuery(event.currentTarget.value)}
        onKeyDown={press}
      />
      <div id="found" class="found" role="listbox" aria-label="Places found">
        {sorted.map((match, index) => (
          <>
            {(index === 0 || sorted[index - 1]!.kind !== match.kind) && (
              <div class="found-kind" role="presentation">
                {KINDS[match.kind]}
              </div>
            )}
            <div
              key={index}
              id={`found-${index}`}
              role="option"
              aria-selected={index === marked}
              class="found-entry"
              onClick={() => open(match)}
            >
              <b>
                <Marked text={match.thread} mark={query.trim()} />
              </b>
              {match.kind === "state" && <code>{match.path}</code>}
              {match.kind === "label" && <span class="number">step {match.step}</span>}
              <span class="line">
                <Marked text={match.text} mark={query.trim()} />
              </span>
            </div>
          </>
        ))}
      </div>
      <p class="about palette-foot" role="status">
        <span>
          {failure !== ""
            ? failure
            : query.trim() === ""
              ? "↑ ↓ move, Enter opens, Escape closes."
              : progress === undefined
                ? "…"
                : `${progress.done && sorted.length === 0 ? "Nothing found. " : ""}Looked through ${progress.searched.toLocaleString("en")} of ${progress.threads.toLocaleString("en")} threads`}
        </span>
        {isRunning && (
          <button
            type="button"
            class="small"
            onClick={() => {
              stop.current?.abort();
              setProgress((before) => before && { ...before, done: true });
            }}
          >
            stop
          </button>
        )}
      </p>
    </dialog>
  );
}
