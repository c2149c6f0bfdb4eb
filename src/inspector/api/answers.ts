import type { LanePlace } from "../../display/lanes.ts";
import type { Failure } from "../../display/steps/failure.ts";
import type { AnswerForm } from "../../display/steps/question.ts";
import type { Ran } from "../../display/steps/step-name.ts";
import type { Summary } from "../../display/values/parts.ts";
import type { CheckpointInfo, ThreadInfo } from "../../model/checkpoint.ts";
import type { MeasuredStats, ThreadSize } from "../../model/interface/results.ts";
import type { Status } from "../../model/status.ts";
import type { QuestionFacts, Step } from "./checkpoint-answers.ts";

export * from "./checkpoint-answers.ts";

/* The answers of the API, as docs/reference/http.md describes them. */

export type { AnswerForm, CheckpointInfo, Failure, LanePlace, Status, Summary, ThreadInfo };

export interface StoreFacts {
  readonly url: string;
  readonly readOnly: boolean;
  /** The application that threads can be run on with. */
  readonly app: string | null;
}

export interface ThreadRow extends ThreadInfo {
  readonly line: { readonly kind: "question" | "failure" | "change"; readonly text: string } | null;
}

export interface ThreadPage {
  readonly threads: readonly ThreadRow[];
  readonly total: number;
  readonly beyond: number;
  readonly statuses: Readonly<Partial<Record<Status, number>>>;
  readonly workflows: readonly string[];
  readonly complete: boolean;
}

export interface Fork {
  readonly thread: string;
  readonly checkpoint: string | null;
  readonly status: Status;
}

export interface ThreadFacts {
  readonly thread: ThreadInfo;
  readonly namespaces: readonly {
    readonly namespace: readonly string[];
    readonly checkpoints: number;
    readonly head: CheckpointInfo;
  }[];
  readonly forks: readonly Fork[];
}

export interface CheckpointItem extends CheckpointInfo {
  readonly kind: "checkpoint";
  readonly place: LanePlace;
  readonly line: string | null;
  readonly ran: readonly Ran[];
  readonly took: number | null;
  readonly failed: boolean;
  readonly asked: boolean;
}

export interface GraphItem {
  readonly kind: "graph";
  readonly namespace: readonly string[];
  readonly checkpoints: number;
  readonly head: CheckpointInfo;
  readonly below: readonly number[];
}

export interface NextItem {
  readonly kind: "next";
  readonly node: string;
  readonly state: "failed" | "asks" | "answered" | "next";
  readonly text: string;
}

export type TimelineItem = CheckpointItem | GraphItem | NextItem;

export interface TimelinePage {
  readonly total: number;
  readonly checkpoints: number;
  readonly offset: number;
  readonly lanes: number;
  readonly head: string | null;
  readonly items: readonly TimelineItem[];
}

export interface InboxQuestion extends QuestionFacts {
  readonly thread: string;
  readonly workflow: string | null;
  readonly namespace: readonly string[];
  readonly checkpoint: string;
  readonly since: number;
}

export interface Inbox {
  readonly questions: readonly InboxQuestion[];
  readonly threads: number;
  readonly complete: boolean;
}

export interface FailureGroups {
  readonly total: number;
  readonly complete: boolean;
  readonly groups: readonly {
    readonly failure: Failure;
    readonly workflow: string | null;
    readonly count: number;
    readonly threads: readonly { readonly thread: string; readonly at: number; readonly message: string }[];
  }[];
}

export interface OverviewFacts {
  readonly total: number;
  readonly complete: boolean;
  readonly statuses: Readonly<Partial<Record<Status, number>>>;
  /** How many threads activity and checkpoints are of, where the store has more than are listed. */
  readonly listed: number | null;
  readonly checkpoints: number;
  readonly activity: {
    readonly from: number;
    readonly to: number;
    readonly updated: readonly number[];
    readonly created: readonly number[];
  };
  readonly workflows: readonly { readonly name: string; readonly counts: Readonly<Partial<Record<Status, number>>> }[];
}

export interface GraphFacts {
  readonly nodes: readonly { readonly name: string; readonly count: number; readonly median: number | null }[];
  readonly edges: readonly {
    readonly from: string;
    readonly to: string;
    readonly count: number;
    /** True for a branch, which is taken at times. */
    readonly sometimes: boolean;
  }[];
  /** Where the picture is from: the workflow as it was compiled, the application, or the history alone. */
  readonly drawnFrom: "compiled" | "app" | "history";
  readonly current: readonly string[];
  readonly last: string | null;
  readonly checkpoints: number;
}

/** A step, a parallel task or a nested graph, from its beginning to its end. */
export interface TimeSpan {
  readonly depth: number;
  readonly namespace: readonly string[];
  readonly id: string;
  readonly name: string;
  readonly step: number;
  readonly from: number;
  readonly to: number;
  /** A task that ran beside others in its step. */
  readonly isTask: boolean;
  /** False if nobody noted when the task ran: it is drawn over its whole step. */
  readonly isTimed: boolean;
}

export interface TimeFacts {
  readonly total: number;
  readonly spans: readonly TimeSpan[];
}

export interface CompareSide {
  readonly id: string;
  readonly node: string | null;
  readonly source: string;
  readonly createdAt: number;
  readonly line: string | null;
  readonly ran: readonly Ran[];
}

export interface CompareFacts {
  readonly left: { readonly thread: string; readonly head: string; readonly checkpoints: number };
  readonly right: { readonly thread: string; readonly head: string; readonly checkpoints: number };
  readonly common: number;
  readonly rows: readonly {
    readonly step: number;
    readonly same: boolean;
    readonly left: CompareSide | null;
    readonly right: CompareSide | null;
  }[];
}

export interface Blame {
  readonly at: string;
  readonly thread: string;
  readonly namespace: readonly string[];
  readonly step: number;
  readonly node: string | null;
  readonly source: string;
  readonly createdAt: number;
  readonly looked: number;
  readonly more: boolean;
  readonly before: string | null;
}

export interface StorageFacts {
  readonly state: "none" | "running" | "done" | "failed";
  readonly measured: number;
  readonly threads: number;
  readonly total: number;
  readonly stats?: MeasuredStats | undefined;
  readonly sizes: readonly {
    readonly thread: string;
    readonly bytes: ThreadSize["bytes"];
    readonly checkpoints: number;
  }[];
  readonly growth: readonly { readonly at: number; readonly bytes: number }[];
  /** The effects of prunes of every thread that keep `keepLast` and labelled checkpoints. */
  readonly prunes: readonly {
    readonly keepLast: number;
    readonly threads: number;
    readonly deleted: number;
    readonly bytesReclaimed: number;
  }[];
  readonly message?: string | undefined;
  readonly finishedAt?: number | undefined;
}

/** A line of a search of the whole store: a place that was found, or how far the search has come. */
export type SearchLine =
  | { readonly kind: "thread"; readonly thread: string; readonly text: string }
  | {
      readonly kind: "label";
      readonly thread: string;
      readonly checkpoint: string;
      readonly text: string;
      readonly step: number;
    }
  | {
      readonly kind: "state";
      readonly thread: string;
      readonly checkpoint: string;
      readonly path: string;
      readonly steps: readonly Step[];
      readonly text: string;
    }
  | { readonly kind: "progress"; readonly searched: number; readonly threads: number; readonly done: boolean };

/** The last run of a thread that the page started. */
export interface RunFacts {
  readonly thread: string;
  readonly startedAt: number;
  readonly endedAt: number | null;
  readonly state: "running" | "ended" | "failed" | "stopped";
  /** The end of what its process printed. */
  readonly output: string;
}

/** The last run of a thread that was started here, with the end of its output. */
export interface RunAnswer {
  readonly run: RunFacts | null;
}

/** The effect of a prune of one thread, or of all. */
export interface Pruned {
  readonly threads: number;
  readonly deleted: number;
  readonly bytesReclaimed: number;
}

/** A checkpoint in its timeline: its row there, and how many checkpoints are newer. */
export interface TimelinePosition {
  readonly position: number;
  readonly index: number;
  readonly checkpoint: string;
  readonly step: number;
}
