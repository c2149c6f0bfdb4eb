import { bytes } from "./bytes.ts";
import { map, set } from "./collection.ts";
import { date } from "./date.ts";
import { error } from "./error.ts";
import type { Kind } from "./kind.ts";
import { nullPrototype } from "./object.ts";
import { regexp } from "./regexp.ts";
import { searchParams, url } from "./url.ts";

/** All kinds, the most frequent first. Their tests exclude each other. */
export const kinds: readonly Kind[] = [date, map, set, nullPrototype, bytes, error, regexp, url, searchParams];

export const kindByTag: ReadonlyMap<string, Kind> = new Map(kinds.map((kind) => [kind.tag, kind]));
