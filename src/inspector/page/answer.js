import { useEffect, useState } from "./dom.js";

/** Asks once, and again when the dependencies change: { value, error, loading }. A late answer is dropped. */
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
