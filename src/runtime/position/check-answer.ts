import { issuesText } from "../../model/interface/standard-schema.ts";
import { RunError } from "../errors.ts";
import { type Definition, isNested } from "../graph/definition.ts";
import type { Schema } from "../graph/schema.ts";

/** Returns an answer as the node's `answer` schema gives it; `INVALID_ANSWER` when it does not fit. */
export async function checkAnswer(
  definition: Definition,
  thread: string,
  node: string,
  question: string,
  answer: unknown,
): Promise<unknown> {
  const schema = schemaOf(definition, node);
  if (schema === undefined) return answer;
  const validation = await schema["~standard"].validate(answer);
  if (validation.issues === undefined) return validation.value;
  const { issues } = validation;
  const message = `The answer to question "${question}" of thread "${thread}" does not fit: ${issuesText(issues)}. Correct it.`;
  throw new RunError("INVALID_ANSWER", message, { thread, node, issues });
}

/** Returns the schema of a node's answers; the node of a nested graph is named with the nodes around it. */
function schemaOf({ nodes }: Definition, path: string): Schema | undefined {
  const node = nodes.get(path);
  if (node !== undefined) return node.options.answer;
  for (const { name, work } of nodes.values()) {
    if (isNested(work) && path.startsWith(`${name}/`)) return schemaOf(work.definition, path.slice(name.length + 1));
  }
  return undefined;
}
