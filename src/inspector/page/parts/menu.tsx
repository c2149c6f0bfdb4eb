import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

export interface MenuEntry {
  readonly label: string;
  readonly act: () => void;
  readonly danger?: boolean;
}

/** Shows a button that opens a short menu. Arrows move, Escape closes, and so does a click elsewhere. */
export function Menu({
  label,
  entries,
}: {
  readonly label: string;
  readonly entries: readonly MenuEntry[];
}): JSX.Element {
  const [open, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!open) return undefined;
    box.current!.querySelector<HTMLElement>("[role=menuitem]")?.focus();
    const leave = (event: Event): void => {
      if (!box.current!.contains(event.target as Node)) setOpen(false);
    };
    addEventListener("pointerdown", leave);
    return () => removeEventListener("pointerdown", leave);
  }, [open]);
  const press = (event: KeyboardEvent): void => {
    const items = [...box.current!.querySelectorAll<HTMLElement>("[role=menuitem]")];
    const here = items.indexOf(document.activeElement as HTMLElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") {
      setOpen(false);
      button.current!.focus();
    } else if (step !== undefined) items[(here + step + items.length) % items.length]?.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="menu" ref={box} onKeyDown={(event) => open && press(event)}>
      <button
        ref={button}
        type="button"
        aria-haspopup="menu"
        aria-expanded={open}
        aria-label={label}
        title={label}
        onClick={() => setOpen(!open)}
      >
        ⋯
      </button>
      {open && (
        <div role="menu" aria-label={label} class="menu-list">
          {entries.map((entry) => (
            <button
              key={entry.label}
              type="button"
              role="menuitem"
              class={entry.danger ? "danger-text" : ""}
              onClick={() => {
                setOpen(false);
                entry.act();
              }}
            >
              {entry.label}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}
