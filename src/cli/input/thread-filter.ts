import { InvalidArgumentError, Option } from "commander";
import type { AttributeValue, Where } from "../../model/attributes.ts";
import type { ThreadsOptions } from "../../model/interface/store-options.ts";
import { type Status, statuses } from "../../model/status.ts";

/** Conditions that a command's threads meet. */
export type ThreadFilter = Pick<ThreadsOptions, "workflow" | "status" | "where">;

/** Returns the options of a {@link ThreadFilter}. */
export function filterOptions(): Option[] {
  const byStatus = new Option("-s, --status <status>", "only those of this status (repeat for more)");
  return [
    new Option("-w, --workflow <name>", "only those of this workflow"),
    byStatus.choices(statuses).argParser(status),
    whereOption("only those with this attribute (repeat for more)"),
  ];
}

/** Returns the option of conditions on attributes. */
export function whereOption(description: string): Option {
  return new Option("--where <name=value>", description).argParser(attribute);
}

/** Returns the conditions that were given, without those that were not. */
export function filterOf({ workflow, status, where }: ThreadFilter): ThreadFilter {
  return {
    ...(workflow !== undefined && { workflow }),
    ...(status !== undefined && { status }),
    ...(where !== undefined && { where }),
  };
}

function status(text: string, before: readonly Status[] = []): readonly Status[] {
  const found = statuses.find((one) => one === text);
  if (found === undefined) throw new InvalidArgumentError(`Allowed choices are ${statuses.join(", ")}.`);
  return [...before, found];
}

/** Adds a condition, `name=value`, to those before it. The value is a number, true, false, a text in quotes, or any other text. */
function attribute(text: string, before: Where = {}): Where {
  const at = text.indexOf("=");
  if (at <= 0) throw new InvalidArgumentError("It must be a name, = and a value.");
  return { ...before, [text.slice(0, at)]: attributeValue(text.slice(at + 1)) };
}

function attributeValue(text: string): AttributeValue {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return value;
  } catch {
    // Plain text needs no quotes.
  }
  return text;
}
