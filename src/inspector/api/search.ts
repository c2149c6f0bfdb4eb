import { setImmediate as turn } from "node:timers/promises";
import { attributeTexts } from "../../display/attributes-text.ts";
import { pathText } from "../../display/quantities.ts";
import { splitKeys } from "../../display/values/internals.ts";
import { partsOf, summaryOf } from "../../display/values/parts.ts";
import { isPlainObject } from "../../platform/plain-objects.ts";
import type { SearchLine } from "./answers.ts";
import type { ApiContext } from "./api-context.ts";

const MOST_THREADS = 50;
const MOST_IN_STATE = 3;
const MOST_FOUND = 200;
const PER_TURN = 2_000;
const AROUND = 60;

/**
 * Searches a store for a text, newest threads first: names, workflows and attributes at once, then labels and the states of all heads,
 * one thread after another until the signal is aborted.
 */
export async function* searchStore(
  context: ApiContext,
  query: string,
  signal: AbortSignal,
): AsyncGenerator<SearchLine> {
  const wanted = query.toLowerCase();
  const threads = await context.catalogue.count();
  let found = 0;
  for await (const { id, workflow, status, attributes } of context.catalogue.each()) {
    if (signal.aborted) return;
    if (found >= MOST_THREADS) break;
    const met = attributeTexts(attributes).filter((text) => text.toLowerCase().includes(wanted));
    const isNamed = id.toLowerCase().includes(wanted) || (workflow ?? "").toLowerCase().includes(wanted);
    if (!isNamed && met.length === 0) continue;
    found += 1;
    yield { kind: "thread", thread: id, text: [workflow, status, ...met].filter(Boolean).join(" · ") };
  }
  found = 0;
  let searched = 0;
  for await (const { id } of context.catalogue.each()) {
    if (signal.aborted) return;
    if (searched % 20 === 0) yield { kind: "progress", searched, threads, done: false };
    searched += 1;
    for await (const match of inThread(context, id, wanted, signal)) {
      yield match;
      found += 1;
    }
    if (found >= MOST_FOUND) {
      yield { kind: "progress", searched, threads, done: true };
      return;
    }
    await turn();
  }
  yield { kind: "progress", searched, threads: searched, done: true };
}

async function* inThread(
  { store, renderers }: ApiContext,
  id: string,
  wanted: string,
  signal: AbortSignal,
): AsyncGenerator<SearchLine> {
  const thread = store.thread(id);
  // A thread that is damaged or was deleted meanwhile has nothing to find.
  const head = await thread.latest().catch(() => undefined);
  if (head === undefined) return;
  for await (const { label, id: checkpoint, step } of thread.history({ limit: 500, signal }))
    if (label !== "" && label.toLowerCase().includes(wanted))
      yield { kind: "label", thread: id, checkpoint, text: label, step };
  let [found, seen] = [0, 0];
  const pending: { value: unknown; path: readonly (string | number)[] }[] = isPlainObject(head.state)
    ? splitKeys(head.state)
        .shown.toReversed()
        .map((key) => ({ value: head.state[key], path: [key] }))
    : [{ value: head.state, path: [] }];
  while (pending.length > 0 && found < MOST_IN_STATE) {
    const { value, path } = pending.pop()!;
    seen += 1;
    if (seen % PER_TURN === 0) {
      await turn();
      if (signal.aborted) return;
    }
    const inside = partsOf(value, 0, Number.POSITIVE_INFINITY, renderers);
    for (const part of inside.toReversed()) pending.push({ value: part.value, path: [...path, part.step] });
    const text = typeof value === "string" ? value : inside.length === 0 ? summaryOf(value).text : "";
    const at = text.toLowerCase().indexOf(wanted);
    if (at < 0) continue;
    found += 1;
    yield {
      kind: "state",
      thread: id,
      checkpoint: head.id,
      path: pathText(path),
      steps: path,
      text: around(text, at, wanted.length),
    };
  }
}

/** Returns the text around a match. */
function around(text: string, at: number, length: number): string {
  const [from, to] = [Math.max(0, at - AROUND), Math.min(text.length, at + length + AROUND)];
  const piece = text.slice(from, to).toWellFormed().replaceAll(/\s+/g, " ");
  return `${from > 0 ? "…" : ""}${piece}${to < text.length ? "…" : ""}`;
}
