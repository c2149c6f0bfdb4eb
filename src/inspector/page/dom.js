import htm from "./library/htm.js";
import { h } from "./library/preact.js";

export { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "./library/hooks.js";
export { render } from "./library/preact.js";

/** Makes components of templates. A value put into a template becomes text or a property, never markup. */
export const html = htm.bind(h);

/** Returns the class names whose values are true. */
export function classes(names) {
  return Object.keys(names)
    .filter((name) => names[name])
    .join(" ");
}
