import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { AttachmentPart, CallPart, ResultPart, Step, TurnFacts, TurnPart } from "../../api/answers.ts";
import { file, type Parameters } from "../api.ts";
import { Copy } from "../parts/copy.tsx";
import { RichText } from "../parts/rich-text.tsx";

interface TurnProps {
  readonly turn: TurnFacts;
  readonly place: Parameters;
  /** Where in the state the messages are. */
  readonly path: readonly Step[];
  readonly onPlace: (path: readonly Step[]) => void;
}

const NAMES = { system: "System", user: "User", assistant: "Assistant", tool: "Tool", other: "" } as const;

/** Shows a message: who spoke, its text, the tools it calls with their results, its attachments. */
export function Turn({ turn, place, path, onPlace }: TurnProps): JSX.Element {
  const { role, roleName, name, model, tokens, parts, index, added } = turn;
  const text = parts.flatMap((part) => (part.kind === "text" ? [part.text] : [])).join("\n\n");
  const at = [...path, index];
  return (
    <article
      class={`turn ${role} ${added ? "added" : ""}`}
      aria-label={`${NAMES[role] || roleName}, message ${index + 1}`}
    >
      <header>
        <b>{name ?? (NAMES[role] || roleName)}</b>
        <button type="button" class="link where" title="Show this message in the state" onClick={() => onPlace(at)}>
          {path.join(".")}[{index}]
        </button>
        {text !== "" && (
          <Copy text={text} label="Copy the text" class="small hover">
            copy
          </Copy>
        )}
      </header>
      {parts.map((part, position) => (
        <Part key={position} part={part} place={place} at={at} onPlace={onPlace} />
      ))}
      {parts.length === 0 && <p class="about">nothing</p>}
      {(model || tokens) && (
        <footer>
          {model && <span>{model}</span>}
          {tokens && (
            <span title={`${tokens.input.toLocaleString("en")} tokens in, ${tokens.output.toLocaleString("en")} out`}>
              {tokens.input.toLocaleString("en")} → {tokens.output.toLocaleString("en")} tokens
            </span>
          )}
        </footer>
      )}
    </article>
  );
}

interface PartProps {
  readonly part: TurnPart;
  readonly place: Parameters;
  readonly at: readonly Step[];
  readonly onPlace: (path: readonly Step[]) => void;
}

function Part({ part, place, at, onPlace }: PartProps): JSX.Element {
  switch (part.kind) {
    case "text":
      return (
        <div class="bubble">
          <RichText text={part.text} />
          {part.cut && <More onClick={() => onPlace(at)} />}
        </div>
      );
    case "reasoning":
      return (
        <details class="reasoning">
          <summary>Reasoning</summary>
          <RichText text={part.text} />
        </details>
      );
    case "call":
      return <Call part={part} at={at} onPlace={onPlace} />;
    case "result":
      return (
        <div class={`tool-card ${part.failed ? "failed" : ""}`}>
          <ResultBody part={part} at={at} onPlace={onPlace} />
        </div>
      );
    case "attachment":
      return <Attachment part={part} place={place} at={at} />;
    default:
      return (
        <p class="other-part">
          <span class="tag">{part.type}</span> <code>{part.text}</code>
        </p>
      );
  }
}

function More({ onClick }: { readonly onClick: () => void }): JSX.Element {
  return (
    <button type="button" class="link" onClick={onClick}>
      … all of it in the state
    </button>
  );
}

/** Shows a call of a tool with its result in a card that folds. */
function Call({
  part,
  at,
  onPlace,
}: {
  readonly part: CallPart;
  readonly at: readonly Step[];
  readonly onPlace: PartProps["onPlace"];
}): JSX.Element {
  const { name, preview, text, cut, result } = part;
  const state = result === null ? "pending" : result.failed ? "failed" : "done";
  return (
    <details class={`tool-card ${state}`}>
      <summary>
        <span class="tool-name">{name}</span>
        <span class="tool-args">{preview}</span>
        {result === null ? (
          <span class="tool-result none">no result yet</span>
        ) : (
          <span class="tool-result">{result.preview}</span>
        )}
      </summary>
      {text !== "" && (
        <>
          <p class="part-title">Arguments</p>
          <pre tabIndex={0} role="region" aria-label={`Arguments of ${name}`}>
            {text}
          </pre>
          {cut && <More onClick={() => onPlace([...at, ...part.path])} />}
        </>
      )}
      {result && (
        <ResultBody
          part={result}
          at={result.index === undefined ? at : [...at.slice(0, -1), result.index]}
          onPlace={onPlace}
        />
      )}
    </details>
  );
}

function ResultBody({
  part,
  at,
  onPlace,
}: {
  readonly part: ResultPart;
  readonly at: readonly Step[];
  readonly onPlace: PartProps["onPlace"];
}): JSX.Element {
  return (
    <>
      <p class="part-title">
        {part.failed ? "Failed" : "Result"}
        {part.name ? ` of ${part.name}` : ""}
      </p>
      <pre tabIndex={0} role="region" aria-label={`Result of ${part.name ?? "the call"}`}>
        {part.text}
      </pre>
      {part.cut && <More onClick={() => onPlace([...at, ...part.path])} />}
    </>
  );
}

/** Shows a picture that is in the state, or the name of another attachment. Nothing is loaded from elsewhere. */
function Attachment({
  part,
  place,
  at,
}: {
  readonly part: AttachmentPart;
  readonly place: Parameters;
  readonly at: readonly Step[];
}): JSX.Element {
  const [picture, setPicture] = useState<string | undefined>(undefined);
  const isPicture = part.path !== null && (part.mediaType ?? "").startsWith("image");
  const parameters = { ...place, path: [...at, ...(part.path ?? [])] };
  useEffect(() => {
    if (!isPicture) return undefined;
    let address: string | undefined;
    let isGone = false;
    file("attachment", parameters).then(
      (blob) => {
        if (isGone || !blob.type.startsWith("image/")) return;
        address = URL.createObjectURL(blob);
        setPicture(address);
      },
      () => undefined,
    );
    return () => {
      isGone = true;
      if (address !== undefined) URL.revokeObjectURL(address);
    };
  }, []);
  const save = async (): Promise<void> => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(await file("attachment", parameters));
    link.download = part.name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  };
  return (
    <div class="attachment">
      {picture !== undefined && <img src={picture} alt={part.name} />}
      <p class="attachment-about">
        <span class="tag">{part.mediaType ?? "file"}</span> <span class="attachment-name">{part.name}</span>
        {part.path !== null && (
          <button type="button" class="small" onClick={() => void save()}>
            save
          </button>
        )}
        {part.url !== null && (
          <Copy text={part.url} label="Copy the address" class="small">
            copy the address
          </Copy>
        )}
      </p>
    </div>
  );
}
