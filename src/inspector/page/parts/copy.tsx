import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";

export async function copyText(text: string): Promise<void> {
  await navigator.clipboard.writeText(text);
}

interface CopyProps {
  readonly text: string;
  readonly children: ComponentChildren;
  readonly label: string;
  readonly class?: string;
}

/** Shows a text that a click copies, and says so for a moment. */
export function Copy({ text, children, label, class: name = "" }: CopyProps): JSX.Element {
  const [copied, setCopied] = useState(false);
  // A name that lacks the text in sight would confuse people who speak to their computer.
  const isNamed = typeof children === "string" && label.toLowerCase().includes(children.toLowerCase());
  return (
    <button
      type="button"
      class={`copyable ${name}`}
      aria-label={isNamed ? label : undefined}
      title={copied ? "Copied" : label}
      data-copied={copied}
      onClick={() =>
        void copyText(text).then(() => {
          setCopied(true);
          setTimeout(() => setCopied(false), 1_200);
        })
      }
    >
      {children}
    </button>
  );
}

/** Shows code to take along, with a button that copies it. */
export function Code({ text, label }: { readonly text: string; readonly label: string }): JSX.Element {
  return (
    <div class="code-block">
      <pre tabIndex={0} role="region" aria-label={label}>
        <code>{text}</code>
      </pre>
      <Copy text={text} label={`Copy ${label}`} class="small">
        copy
      </Copy>
    </div>
  );
}
