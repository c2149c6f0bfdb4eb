import htm from "./library/htm.js";
import { h } from "./library/preact.js";

export { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "./library/hooks.js";
export { render } from "./library/preact.js";

/** Components as templates. Whatever is put into one becomes text or a property, never markup. */
export const html = htm.bind(h);

/** Class names of those that are true. */
export function classes(names) {
  return Object.keys(names)
    .filter((name) => names[name])
    .join(" ");
}
