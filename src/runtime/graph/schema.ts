import { issuesText, type StandardSchema } from "../../model/interface/standard-schema.ts";
import { RunError } from "../errors.ts";

/** A schema of inputs or answers: any Standard Schema. */
export type Schema<Output = unknown, Input = unknown> = StandardSchema<Output, Input>;

type TypesOf<Of extends Schema> = NonNullable<Of["~standard"]["types"]>;

/** The input that a schema takes. */
export type InputOf<Of extends Schema> = TypesOf<Of>["input"];

/** The output that a schema gives. */
export type OutputOf<Of extends Schema> = TypesOf<Of>["output"];

/** Returns the schema's output for an input, with its defaults and transforms; `INVALID_INPUT` when it finds issues. */
export async function checkInput(
  workflow: string,
  schema: Schema | undefined,
  input: unknown,
): Promise<Record<string, unknown>> {
  let value = input;
  if (schema !== undefined) {
    const validation = await schema["~standard"].validate(input);
    if (validation.issues !== undefined) {
      const { issues } = validation;
      throw new RunError(
        "INVALID_INPUT",
        `The input of workflow "${workflow}" does not fit: ${issuesText(issues)}. Correct it.`,
        {
          issues,
        },
      );
    }
    value = validation.value;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new TypeError(
      `The input of workflow "${workflow}" must be an object of state keys, not ${value === null ? "null" : Array.isArray(value) ? "an array" : typeof value}.`,
    );
  }
  return value as Record<string, unknown>;
}
