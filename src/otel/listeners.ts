import type { Diagnostics } from "../platform/diagnostics.ts";

/** Functions that take the messages of some channels. */
export type Listeners = { readonly [Name in keyof Diagnostics]?: (message: Diagnostics[Name]) => void };
