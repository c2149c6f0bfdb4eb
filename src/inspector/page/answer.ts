import { useEffect, useState } from "preact/hooks";

export interface AnswerState<Value> {
  readonly value?: Value | undefined;
  readonly error?: Error | undefined;
  readonly loading: boolean;
}

/** Asks once, and again when the dependencies change. A late answer is dropped. */
export function useAnswer<Value>(
  ask: (signal: AbortSignal) => Promise<Value>,
  dependencies: readonly unknown[],
): AnswerState<Value> {
  const [answer, setAnswer] = useState<AnswerState<Value>>({ loading: true });
  useEffect(() => {
    const controller = new AbortController();
    setAnswer(({ value }) => ({ value, loading: true }));
    ask(controller.signal).then(
      (value) => setAnswer({ value, loading: false }),
      (error: Error) => {
        if (!controller.signal.aborted) setAnswer({ error, loading: false });
      },
    );
    return () => controller.abort();
  }, dependencies);
  return answer;
}
