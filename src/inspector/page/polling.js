import { useEffect, useRef, useState } from "./dom.js";

const INTERVAL = 2_000;

/** Calls again and again while somebody looks; at once when what it depends on changes, or `wake` is called. */
export function usePolling(work, dependencies, interval = INTERVAL) {
  const latest = useRef(work);
  latest.current = work;
  const wake = useRef(() => {});
  useEffect(() => {
    let timer;
    let ended = false;
    let controller = new AbortController();
    const turn = async () => {
      clearTimeout(timer);
      controller.abort();
      controller = new AbortController();
      const { signal } = controller;
      if (document.visibilityState !== "hidden") await latest.current(signal).catch(() => undefined);
      if (!ended && !signal.aborted) timer = setTimeout(turn, interval);
    };
    wake.current = turn;
    void turn();
    document.addEventListener("visibilitychange", turn);
    return () => {
      ended = true;
      clearTimeout(timer);
      controller.abort();
      document.removeEventListener("visibilitychange", turn);
    };
  }, dependencies);
  return () => wake.current();
}

/** What a request answers: { value, error, loading }. An answer that came too late is not used. */
export function useAnswer(ask, dependencies) {
  const [answer, setAnswer] = useState({ loading: true });
  useEffect(() => {
    const controller = new AbortController();
    setAnswer(({ value }) => ({ value, loading: true }));
    ask(controller.signal).then(
      (value) => setAnswer({ value, loading: false }),
      (error) => {
        if (!controller.signal.aborted) setAnswer({ error, loading: false });
      },
    );
    return () => controller.abort();
  }, dependencies);
  return answer;
}
