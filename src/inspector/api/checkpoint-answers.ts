import type { Failure } from "../../display/steps/failure.ts";
import type { AnswerForm } from "../../display/steps/question.ts";
import type { Ran } from "../../display/steps/step-name.ts";
import type { Summary } from "../../display/values/parts.ts";
import type { CheckpointInfo } from "../../model/checkpoint.ts";
import type { CheckpointSize } from "../../model/interface/results.ts";

/* The answers of the API about a checkpoint, as docs/reference/http.md describes them. */

export type Step = string | number;

export interface QuestionFacts {
  readonly id: string;
  readonly node: string | null;
  readonly text: string;
  readonly form: AnswerForm;
  readonly langgraph: boolean;
  readonly details: PreviewNode | null;
  readonly answered: boolean;
}

export interface PreviewNode extends Summary {
  readonly step?: Step;
  readonly label?: string;
  readonly children?: readonly PreviewNode[];
}

export interface StateNode extends PreviewNode {
  readonly offset: number;
  readonly internal: number;
}

/** The values of a state that a text was found in. */
export interface StateMatches {
  readonly matches: readonly {
    readonly path: readonly Step[];
    readonly labels: readonly string[];
    readonly summary: Summary;
  }[];
  readonly more: boolean;
}

export interface WriteFacts {
  readonly task: string;
  readonly node: string | null;
  readonly index: number;
  readonly channel: string;
  readonly internal: boolean;
  readonly value: Summary;
}

export interface CheckpointFacts {
  readonly checkpoint: CheckpointInfo;
  readonly ran: readonly Ran[];
  readonly state: Summary;
  readonly langgraph: boolean;
  readonly messages: { readonly path: readonly string[]; readonly count: number } | null;
  readonly path: { readonly steps: number; readonly last: readonly string[] };
  readonly next: readonly { readonly node: string; readonly task: string | null; readonly arg: Summary | null }[];
  readonly completed: readonly string[];
  readonly barriers: readonly { readonly node: string; readonly arrived: readonly string[] }[];
  readonly questions: readonly QuestionFacts[];
  readonly failures: readonly Failure[];
  readonly writes: readonly WriteFacts[];
  readonly size: CheckpointSize;
}

export interface ShownChange {
  readonly path: readonly Step[];
  readonly kind: "added" | "removed" | "changed";
  readonly internal: boolean;
  readonly before?: PreviewNode;
  readonly after?: PreviewNode;
}

export interface Diff {
  readonly total: number;
  readonly internal: number;
  readonly changes: readonly ShownChange[];
}

interface CutText {
  readonly text: string;
  readonly cut: boolean;
}

export interface ResultPart extends CutText {
  readonly kind: "result";
  readonly id: string | null;
  readonly name: string | null;
  readonly failed: boolean;
  readonly preview: string;
  readonly path: readonly Step[];
  readonly index?: number;
}

export interface CallPart extends CutText {
  readonly kind: "call";
  readonly id: string | null;
  readonly name: string;
  readonly preview: string;
  readonly path: readonly Step[];
  readonly result: ResultPart | null;
}

export interface AttachmentPart {
  readonly kind: "attachment";
  readonly name: string;
  readonly mediaType: string | null;
  readonly url: string | null;
  readonly path: readonly Step[] | null;
}

export type TurnPart =
  | (CutText & { readonly kind: "text" | "reasoning" })
  | CallPart
  | ResultPart
  | AttachmentPart
  | { readonly kind: "other"; readonly type: string; readonly text: string };

export interface TurnFacts {
  readonly index: number;
  readonly role: "system" | "user" | "assistant" | "tool" | "other";
  readonly roleName: string;
  readonly name: string | null;
  readonly id: string | null;
  readonly model: string | null;
  readonly tokens: { readonly input: number; readonly output: number } | null;
  readonly added: boolean;
  readonly parts: readonly TurnPart[];
}

export interface ConversationPage {
  readonly path: readonly string[];
  readonly total: number;
  readonly messages: number;
  readonly offset: number;
  readonly turns: readonly TurnFacts[];
}
