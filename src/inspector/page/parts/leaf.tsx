import type { JSX } from "preact";
import { bytesText, countText } from "../../../display/quantities.ts";
import { ERASED } from "../../../model/interface/erasure.ts";
import type { Summary } from "../../api/answers.ts";

const NAMES: Readonly<Record<string, string>> = {
  map: "Map",
  set: "Set",
  date: "Date",
  regexp: "RegExp",
  error: "Error",
  url: "URL",
  searchparams: "URLSearchParams",
  bigint: "BigInt",
};

const CONTAINERS = ["array", "map", "set", "object", "class"];

interface LeafProps {
  readonly node: Summary;
  /** True if the parts of the value are shown below, so that a preview would repeat them. */
  readonly open?: boolean;
  /** The text to mark in the value. */
  readonly mark?: string;
}

/** Shows a value on a line: its type where it is not plain JSON, and the value or its beginning. */
export function Leaf({ node, open = false, mark = "" }: LeafProps): JSX.Element {
  const { type, text, parts, length, title } = node;
  if (type === "string" && text === ERASED) {
    return (
      <span class="value string" title="The value that was here was erased, in the whole history.">
        <Marked text={text} mark={mark} />
      </span>
    );
  }
  if (type === "string") {
    return (
      <>
        <span class="value string">
          "<Marked text={text} mark={mark} />
          {length === undefined ? '"' : ""}
        </span>
        {length !== undefined && !open && <span class="more">… {countText(length, "character")}</span>}
      </>
    );
  }
  if (CONTAINERS.includes(type)) {
    const name = title ?? NAMES[type];
    return (
      <>
        {name && <span class="type">{name}</span>}
        {open ? (
          <span class="count">
            {type === "array" ? `[${parts.toLocaleString("en")}]` : `{${parts.toLocaleString("en")}}`}
          </span>
        ) : (
          <span class="preview">
            <Marked text={text} mark={mark} />
          </span>
        )}
      </>
    );
  }
  if (length !== undefined) {
    return (
      <>
        <span class="type">{type}</span>
        <span class="value bytes">
          {text}
          {length * 2 > text.length ? "…" : ""}
        </span>
        <span class="more">{bytesText(length)}</span>
      </>
    );
  }
  const name = NAMES[type];
  return (
    <>
      {name && <span class="type">{name}</span>}
      <span class={`value ${type}`}>
        <Marked text={text} mark={mark} />
      </span>
    </>
  );
}

/** Shows a text with every place marked where another text is in it. */
export function Marked({ text, mark }: { readonly text: string; readonly mark: string }): JSX.Element {
  if (mark === "") return <>{text}</>;
  const parts: (string | JSX.Element)[] = [];
  const [lower, wanted] = [text.toLowerCase(), mark.toLowerCase()];
  let from = 0;
  // A letter whose small form has another length would shift the places: then nothing is marked.
  if (lower.length !== text.length) return <>{text}</>;
  for (let at = lower.indexOf(wanted); at >= 0; at = lower.indexOf(wanted, from)) {
    parts.push(text.slice(from, at), <mark>{text.slice(at, at + wanted.length)}</mark>);
    from = at + wanted.length;
  }
  return (
    <>
      {parts}
      {text.slice(from)}
    </>
  );
}
