import type { Json } from "../../display/tagged-json.ts";

/** The order to run a thread on, as the process that does so reads it from its input. */
export interface RunOrder {
  readonly thread: string;
  readonly workflow: string | null;
  /** The nodes that run next, by which a graph of LangGraph is found. */
  readonly next: readonly string[];
  /** Answers to questions of LangGraph by their ids, tagged; the runtime takes its answers from the store. */
  readonly answers: Readonly<Record<string, Json>>;
}
