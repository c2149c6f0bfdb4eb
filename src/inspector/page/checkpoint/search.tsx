import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { StateMatches, Step } from "../../api/answers.ts";
import { get, type Parameters } from "../api.ts";
import { Leaf, Marked } from "../parts/leaf.tsx";

interface StateSearchProps {
  readonly place: Parameters;
  readonly onPick: (path: readonly Step[]) => void;
  readonly onQuery: (query: string) => void;
  readonly onCopy: () => void;
}

/** Finds keys and values in a state, and marks what was found. The server searches, since it has the whole state. */
export function StateSearch({ place, onPick, onQuery, onCopy }: StateSearchProps): JSX.Element {
  const [query, setQuery] = useState("");
  const [found, setFound] = useState<StateMatches | undefined>(undefined);
  const wanted = query.trim();
  useEffect(() => {
    onQuery(wanted);
    if (wanted === "") {
      setFound(undefined);
      return undefined;
    }
    const controller = new AbortController();
    const timer = setTimeout(() => {
      get<StateMatches>("state/search", { ...place, query: wanted }, controller.signal).then(setFound, () => undefined);
    }, 200);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [wanted]);
  return (
    <>
      <div class="state-search">
        <input
          type="search"
          placeholder="Search the state"
          aria-label="Search the state"
          value={query}
          onInput={(event) => setQuery(event.currentTarget.value)}
        />
        <button type="button" onClick={onCopy}>
          Copy all
        </button>
      </div>
      {found && (
        <>
          <ul class="matches" aria-label="Places found">
            {found.matches.map(({ path, labels, summary }) => (
              <li key={JSON.stringify(path)}>
                <button type="button" onClick={() => onPick(path)}>
                  <code>
                    <Marked text={labels.join(" › ") || "(the state)"} mark={wanted} />
                  </code>{" "}
                  <Leaf node={summary} mark={wanted} />
                </button>
              </li>
            ))}
          </ul>
          <p class="about" role="status">
            {found.matches.length === 0 ? "Nothing found." : found.more ? "The first places found." : ""}
          </p>
        </>
      )}
    </>
  );
}
