import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { keep, kept } from "../kept.ts";

/** Returns the width of a pane that people can change, and the bar that changes it. */
export function usePaneWidth(
  name: string,
  usual: number,
  least: number,
  most: number,
): { readonly width: number; readonly bar: JSX.Element } {
  const limited = (width: number): number => Math.round(Math.min(most, Math.max(least, width)));
  const [width, setWidth] = useState(() => limited(Number(kept(`width-${name}`, String(usual))) || usual));
  const start = useRef<{ x: number; width: number } | undefined>(undefined);
  const set = (next: number): void => {
    setWidth(limited(next));
    keep(`width-${name}`, String(limited(next)));
  };
  const bar = (
    <div
      class="bar-between"
      role="separator"
      aria-orientation="vertical"
      aria-label={`Width of the ${name}`}
      aria-valuenow={width}
      aria-valuemin={least}
      aria-valuemax={most}
      tabIndex={0}
      onPointerDown={(event) => {
        start.current = { x: event.clientX, width };
        event.currentTarget.setPointerCapture(event.pointerId);
        event.preventDefault();
      }}
      onPointerMove={(event) => {
        if (start.current !== undefined) set(start.current.width + event.clientX - start.current.x);
      }}
      onPointerUp={() => {
        start.current = undefined;
      }}
      onDblClick={() => set(usual)}
      onKeyDown={(event) => {
        const step = { ArrowLeft: -16, ArrowRight: 16 }[event.key];
        if (step === undefined) return;
        event.preventDefault();
        set(width + step);
      }}
    />
  );
  return { width, bar };
}
