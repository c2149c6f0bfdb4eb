import { issuesText } from "../../model/interface/standard-schema.ts";
import { RunError } from "../errors.ts";
import { type Definition, earlierNames, isNested } from "../graph/definition.ts";
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

/**
 * Returns the schema of a node's answers; the node of a nested graph is named with the nodes around it. A question that was asked
 * under an earlier name of its node has that name.
 */
function schemaOf(definition: Definition, path: string): Schema | undefined {
  const known = [...definition.nodes.values()].flatMap((node) =>
    [node.name, ...earlierNames(definition, node.name)].map((name) => ({ ...node, name })),
  );
  const asked = known.find(({ name }) => name === path);
  if (asked !== undefined) return asked.options.answer;
  for (const { name, work } of known) {
    if (isNested(work) && path.startsWith(`${name}/`)) return schemaOf(work.definition, path.slice(name.length + 1));
  }
  return undefined;
}
