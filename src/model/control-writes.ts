/** Indexes of control writes, as LangGraph has them: a task's error, its schedule, its question, and a person's answer. */
export const controlIndexes = { error: -1, scheduled: -2, interrupt: -3, resume: -4 } as const;
