import { checkpointRecord } from "../../../display/json-records.ts";
import { findMessages } from "../../../display/messages/conversation.ts";
import { failuresIn } from "../../../display/steps/failure.ts";
import { questionsOf } from "../../../display/steps/question.ts";
import { ranIn } from "../../../display/steps/step-name.ts";
import { isInternalKey, isLangGraphState } from "../../../display/values/internals.ts";
import { summaryOf } from "../../../display/values/parts.ts";
import type { CheckpointFacts, Diff } from "../answers.ts";
import { type Handler, threadOf } from "../api-context.ts";
import { answeredOf, questionFacts } from "../questions.ts";
import { previewNode } from "./tree.ts";

const PATH_SHOWN = 200;

/** Returns all of a checkpoint but its state, which is read in parts. */
export const checkpointFacts: Handler<CheckpointFacts> = async (context, parameters) => {
  const thread = threadOf(context, parameters);
  const id = parameters.text("checkpoint");
  parameters.end();
  const { renderers } = context;
  const whole = await context.states.get(thread, id);
  const { state, path, next, completed, interrupts, barriers, ...info } = whole;
  const writes = await thread.writes(id);
  const answered = await answeredOf(context, thread, whole, writes);
  const messages = findMessages(state);
  return {
    checkpoint: checkpointRecord(info),
    ran: context.summaries.get(info)?.ran ?? ranIn(info, undefined),
    state: summaryOf(state, 200, renderers),
    langgraph: isLangGraphState(state),
    messages: messages === undefined ? null : { path: messages.path, count: messages.messages.length },
    path: { steps: path.length, last: path.slice(-PATH_SHOWN) },
    next: next.map(({ node, task, arg }) => ({
      node,
      task: task ?? null,
      arg: arg === undefined ? null : summaryOf(arg, 200, renderers),
    })),
    completed,
    barriers,
    interrupts: interrupts.map(({ id: question, node, value }, index) => ({
      id: question,
      node,
      position: index,
      value: summaryOf(value, 2_000, renderers),
      answered: answered.has(question),
    })),
    questions: questionsOf(whole, writes).map((question) => questionFacts(question, answered, renderers)),
    failures: failuresIn(writes, next),
    writes: writes.map(({ value, ...write }) => ({
      ...write,
      internal: write.index >= 0 && isLangGraphState(state) && isInternalKey(write.channel),
      value: summaryOf(value, 200, renderers),
    })),
    size: await thread.sizeOf(id),
  };
};

const MOST_CHANGES = 500;

/** Returns the differences between two states, of two threads if `other` names another. LangGraph's own come last. */
export const stateDiff: Handler<Diff> = async (context, parameters) => {
  const thread = threadOf(context, parameters);
  const [before, after] = [parameters.text("before"), parameters.text("after")];
  const other = parameters.optionalText("other");
  const offset = parameters.whole("offset", 0, Number.MAX_SAFE_INTEGER, 0);
  parameters.end();
  const state = (
    await context.states.get(
      other === undefined ? thread : context.store.thread(other, { namespace: thread.namespace }),
      after,
    )
  ).state;
  const changes = await thread.diff(before, other === undefined ? after : { thread: other, at: after });
  const isInternal = (path: readonly (string | number)[]): boolean =>
    isLangGraphState(state) && typeof path[0] === "string" && isInternalKey(path[0]);
  const shown = changes.filter(({ path }) => !isInternal(path));
  const internal = changes.filter(({ path }) => isInternal(path));
  return {
    total: changes.length,
    internal: internal.length,
    changes: [...shown, ...internal].slice(offset, offset + MOST_CHANGES).map((change) => ({
      path: change.path,
      kind: change.kind,
      internal: isInternal(change.path),
      ...("before" in change && { before: previewNode(change.before, 2_000, context.renderers) }),
      ...("after" in change && { after: previewNode(change.after, 2_000, context.renderers) }),
    })),
  };
};
