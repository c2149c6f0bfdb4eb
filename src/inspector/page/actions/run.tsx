import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { durationText } from "../../../display/quantities.ts";
import type { RunAnswer } from "../../api/answers.ts";
import { post } from "../api.ts";
import { refresh, useLive } from "../live.ts";

interface RunPanelProps {
  readonly thread: string;
  readonly app: string;
  /** True if the thread has something left to run. */
  readonly isUnfinished: boolean;
}

/** Runs a thread on with the application that the inspector was started with, and shows what the process prints. */
export function RunPanel({ thread, app, isUnfinished }: RunPanelProps): JSX.Element | null {
  const { value } = useLive<RunAnswer>("run", { thread });
  const [failure, setFailure] = useState("");
  const run = value?.run ?? null;
  const act = async (what: "start" | "stop"): Promise<void> => {
    setFailure("");
    try {
      await post(`run/${what}`, { thread });
      refresh();
    } catch (error) {
      setFailure(error instanceof Error ? error.message : String(error));
    }
  };
  if (!isUnfinished && run === null) return null;
  return (
    <section class="run-panel" aria-label="Run">
      <p class="headline">
        {run?.state === "running" ? (
          <button type="button" onClick={() => void act("stop")}>
            Stop
          </button>
        ) : (
          <button type="button" class="primary" disabled={!isUnfinished} onClick={() => void act("start")}>
            Run on
          </button>
        )}
        <span class="about">
          {run === null
            ? `with ${app.split(/[\\/]/).at(-1)}, in a process of its own`
            : run.state === "running"
              ? "running …"
              : `${run.state} after ${durationText((run.endedAt ?? run.startedAt) - run.startedAt)}`}
        </span>
      </p>
      {run !== null && run.output !== "" && (
        <pre tabIndex={0} role="log" aria-label="Output of the run">
          {run.output}
        </pre>
      )}
      <p class="failure" role="alert">
        {failure}
      </p>
    </section>
  );
}
