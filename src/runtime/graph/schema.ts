import { type Issue, messageOf, RunError } from "../errors.ts";

type Validation<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly Issue[] };

/** The part of the Standard Schema interface (standardschema.dev) that the runtime uses: zod, valibot, arktype have it. */
export interface Schema<Output = unknown> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => Validation<Output> | Promise<Validation<Output>>;
  };
}

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
      throw new RunError("INVALID_INPUT", `The input of workflow "${workflow}" does not fit: ${describe(issues)}.`, {
        issues,
      });
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

function describe(issues: readonly Issue[]): string {
  const lines = issues.map(({ message, path = [] }) => {
    const keys = path.map((part) => String(typeof part === "object" ? part.key : part));
    return keys.length === 0 ? message : `${keys.join(".")}: ${message}`;
  });
  return lines.join("; ") || messageOf("it gave no reason");
}
