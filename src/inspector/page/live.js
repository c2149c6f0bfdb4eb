import { ApiError, addressOf, stream } from "./api.js";
import { useEffect, useState } from "./dom.js";

const PAUSE = 1_000;

/** The GET requests whose answers are kept up to date, by address, each with its listeners and its last answer. */
const questions = new Map();
/** Listeners for whether the inspector answers. */
const watchers = new Set();
let controller = new AbortController();
let timer;

/**
 * Opens the page's only stream anew for the current questions; all answers come again at once. A hidden page has no
 * stream, since a browser allows only six connections to a server in all its tabs together.
 */
export function refresh() {
  controller.abort();
  clearTimeout(timer);
  // Components come and go together, so they share a single restart.
  timer = setTimeout(follow, 0);
}

async function follow() {
  const addresses = [...questions.keys()];
  if (addresses.length === 0 || document.visibilityState === "hidden") return;
  controller = new AbortController();
  const { signal } = controller;
  let problem = "The inspector ended the connection. Trying again …";
  try {
    for await (const { question, answer, error } of stream(addresses, signal)) {
      if (signal.aborted) return;
      tell("");
      const asked = questions.get(addresses[question]);
      const text = JSON.stringify([answer, error]);
      // A reopened stream repeats known answers.
      if (asked === undefined || asked.text === text) continue;
      asked.text = text;
      asked.told = error === undefined ? { value: answer } : { error: new ApiError(0, error.code, error.message) };
      for (const listener of [...asked.listeners]) listener(asked.told);
    }
  } catch (error) {
    problem =
      error instanceof ApiError ? error.message : "The inspector does not answer. Does threadmark ui still run?";
  }
  if (signal.aborted) return;
  tell(problem);
  timer = setTimeout(follow, PAUSE);
}

function tell(problem) {
  for (const watcher of watchers) watcher(problem);
}

document.addEventListener("visibilitychange", refresh);

function listen(address, listener) {
  const asked = questions.get(address) ?? { listeners: new Set(), text: undefined, told: undefined };
  questions.set(address, asked);
  asked.listeners.add(listener);
  if (asked.told !== undefined) listener(asked.told);
  refresh();
  return () => {
    asked.listeners.delete(listener);
    if (asked.listeners.size === 0) questions.delete(address);
    refresh();
  };
}

/** Keeps the answers to GET requests up to date: { value } or { error } for each, undefined until it came. */
export function useLiveAnswers(addresses) {
  const [answers, setAnswers] = useState(new Map());
  useEffect(() => {
    const ends = addresses.map((address) =>
      listen(address, (answer) => setAnswers((before) => new Map(before).set(address, answer))),
    );
    setAnswers((before) => new Map([...before].filter(([address]) => addresses.includes(address))));
    return () => {
      for (const end of ends) end();
    };
  }, [JSON.stringify(addresses)]);
  return addresses.map((address) => answers.get(address));
}

/** Keeps the answer to a GET request up to date: { value, error }, both undefined until it came. */
export function useLive(path, parameters) {
  const [answer] = useLiveAnswers([addressOf(path, parameters)]);
  return answer ?? {};
}

/** Returns why no answers come, or "". */
export function useConnection() {
  const [problem, setProblem] = useState("");
  useEffect(() => {
    watchers.add(setProblem);
    return () => watchers.delete(setProblem);
  }, []);
  return problem;
}
