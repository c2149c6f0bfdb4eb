import { useEffect, useState } from "preact/hooks";
import { RecentMap } from "../../platform/recent-map.ts";
import { ApiError, addressOf, lines, type Parameters } from "./api.ts";

const PAUSE = 1_000;

export interface Told<Value> {
  readonly value?: Value;
  readonly error?: Error;
}

interface Question {
  readonly listeners: Set<(told: Told<unknown>) => void>;
  text: string | undefined;
  told: Told<unknown> | undefined;
}

interface Line {
  readonly question: number;
  readonly answer?: unknown;
  readonly error?: { readonly code: string; readonly message: string };
}

/** The GET requests whose answers are kept up to date, by address, each with its listeners and its last answer. */
const questions = new Map<string, Question>();
/** Answers that no part of the page shows any more, for the way back. */
const remembered = new RecentMap<string, Told<unknown>>(40);
/** Listeners for whether the inspector answers. */
const watchers = new Set<(problem: string) => void>();
let controller = new AbortController();
let timer: ReturnType<typeof setTimeout> | undefined;
let followed = "";

/**
 * Opens the page's only stream anew for the current questions; all answers come again at once. A hidden page has no
 * stream, since a browser allows only six connections to a server in all its tabs together.
 */
export function refresh(): void {
  controller.abort();
  followed = "";
  schedule();
}

/** Components come and go together, so they share a single restart. */
function schedule(): void {
  clearTimeout(timer);
  timer = setTimeout(() => void follow(), 0);
}

async function follow(): Promise<void> {
  const addresses = [...questions.keys()];
  const key = addresses.toSorted().join(" ");
  if (key === followed) return;
  controller.abort();
  followed = key;
  if (addresses.length === 0 || document.visibilityState === "hidden") return;
  controller = new AbortController();
  const { signal } = controller;
  let problem = "The inspector ended the connection. Trying again …";
  try {
    for await (const line of lines<Line>("live", { questions: addresses }, signal)) {
      if (signal.aborted) return;
      tell("");
      hear(addresses[line.question]!, line);
    }
  } catch (error) {
    if (error instanceof ApiError) problem = error.message;
  }
  if (signal.aborted) return;
  tell(problem);
  followed = "";
  timer = setTimeout(() => void follow(), PAUSE);
}

function hear(address: string, { answer, error }: Line): void {
  const asked = questions.get(address);
  const text = JSON.stringify([answer, error]);
  // A reopened stream repeats known answers.
  if (asked === undefined || asked.text === text) return;
  asked.text = text;
  asked.told = error === undefined ? { value: answer } : { error: new ApiError(0, error.code, error.message) };
  for (const listener of [...asked.listeners]) listener(asked.told);
}

function tell(problem: string): void {
  for (const watcher of watchers) watcher(problem);
}

document.addEventListener("visibilitychange", refresh);

function listen(address: string, listener: (told: Told<unknown>) => void): () => void {
  const asked = questions.get(address) ?? { listeners: new Set(), text: undefined, told: remembered.get(address) };
  questions.set(address, asked);
  asked.listeners.add(listener);
  if (asked.told !== undefined) listener(asked.told);
  schedule();
  return () => {
    asked.listeners.delete(listener);
    if (asked.listeners.size > 0) return;
    questions.delete(address);
    if (asked.told?.value !== undefined) remembered.set(address, asked.told);
    schedule();
  };
}

/** Keeps the answers to GET requests up to date: undefined for each until it came. */
export function useLiveAnswers<Value>(addresses: readonly string[]): readonly (Told<Value> | undefined)[] {
  const [answers, setAnswers] = useState<ReadonlyMap<string, Told<Value>>>(new Map());
  useEffect(() => {
    const ends = addresses.map((address) =>
      listen(address, (answer) => setAnswers((before) => new Map(before).set(address, answer as Told<Value>))),
    );
    setAnswers((before) => new Map([...before].filter(([address]) => addresses.includes(address))));
    return () => {
      for (const end of ends) end();
    };
  }, [JSON.stringify(addresses)]);
  return addresses.map((address) => answers.get(address));
}

/** Keeps the answer to a GET request up to date; neither value nor error until it came. */
export function useLive<Value>(path: string, parameters: Parameters = {}, isWanted = true): Told<Value> {
  const [answer] = useLiveAnswers<Value>(isWanted ? [addressOf(path, parameters)] : []);
  return answer ?? {};
}

/** Returns why no answers come, or "". */
export function useConnection(): string {
  const [problem, setProblem] = useState("");
  useEffect(() => {
    watchers.add(setProblem);
    return () => {
      watchers.delete(setProblem);
    };
  }, []);
  return problem;
}
