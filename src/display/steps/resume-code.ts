/**
 * Returns the code that answers a question of LangGraph, from the program that runs the graph. `value` is absent while no answer
 * is chosen. An answer names its question where it must: a command without a name answers whichever task asks first, and
 * LangGraph takes an answer such as `false` or `0` for none.
 */
export function resumeCode(
  thread: string,
  question: string,
  answer: { readonly value: unknown } | undefined,
  isOnly: boolean,
): string {
  const isNamed = isQuestionName(question) && (!isOnly || (answer !== undefined && !answer.value));
  const text = answer === undefined ? "…" : JSON.stringify(answer.value);
  const resume = isNamed ? `{ ${JSON.stringify(question)}: ${text} }` : text;
  return `graph.invoke(new Command({ resume: ${resume} }), { configurable: { thread_id: ${JSON.stringify(thread)} } })`;
}

/** Tells whether LangGraph can find a question by this id: questions of its first versions have none. */
export function isQuestionName(id: string): boolean {
  return /^[0-9a-f]{32}$/.test(id);
}
