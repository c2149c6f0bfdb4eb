/** A fault that a schema found in a value. */
export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

type Validation<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

/** The part of the Standard Schema interface (standardschema.dev) that is used here: zod, valibot and arktype have it. */
export interface StandardSchema<Output = unknown, Input = unknown> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    /** For the compiler alone. */
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    readonly validate: (value: unknown) => Validation<Output> | Promise<Validation<Output>>;
  };
}

/** Says what a schema found: `user.name: expected string; total: too small`. */
export function issuesText(issues: readonly SchemaIssue[]): string {
  const lines = issues.map(({ message, path = [] }) => {
    const keys = path.map((part) => String(typeof part === "object" ? part.key : part));
    return keys.length === 0 ? message : `${keys.join(".")}: ${message}`;
  });
  return lines.join("; ") || "it gave no reason";
}
