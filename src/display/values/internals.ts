import { isPlainObject } from "../../platform/plain-objects.ts";
import type { Fields } from "./records.ts";

const BOOKKEEPING = "__langgraph__";

/** Tells whether LangGraph, not its user, keeps a key of a state: channels that activate nodes, and the saver's notes. */
export function isInternalKey(key: string): boolean {
  return /^(?:branch:|join:|start:)/.test(key) || (key.startsWith("__") && key !== "__proto__") || key === BOOKKEEPING;
}

/** Tells whether a state is that of a LangGraph thread. Other states may use such keys as they like. */
export function isLangGraphState(state: unknown): state is Fields {
  return isPlainObject(state) && Object.hasOwn(state, BOOKKEEPING);
}

/** Splits the keys of a state into its user's and LangGraph's own. */
export function splitKeys(state: unknown): { readonly shown: readonly string[]; readonly internal: readonly string[] } {
  const keys = isPlainObject(state) ? Object.keys(state) : [];
  if (!isLangGraphState(state)) return { shown: keys, internal: [] };
  return { shown: keys.filter((key) => !isInternalKey(key)), internal: keys.filter(isInternalKey) };
}
