/**
 * The indexes of control writes, as LangGraph has them: a task's error, its schedule, its question, and a person's answer.
 * A control write that is put again replaces the one before it.
 *
 * @example
 * await thread.putWrites(checkpoint.id, { task: question.id, writes: [{ channel: "answer", value: "yes", index: controlIndexes.resume }] });
 */
export const controlIndexes = { error: -1, scheduled: -2, interrupt: -3, resume: -4 } as const;

/** The channels that the runtime names its control writes by. */
export const controlChannels = {
  error: "error",
  scheduled: "resumed",
  interrupt: "interrupt",
  resume: "answer",
} as const;

/** The channel of LangGraph's questions. */
export const graphChannels = { interrupt: "__interrupt__" } as const;

/** The task under which LangGraph saves an answer that is for whichever task asks first. */
export const NULL_TASK = "00000000-0000-0000-0000-000000000000";
