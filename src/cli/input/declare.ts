import { existsSync, statSync } from "node:fs";
import { type Command, InvalidArgumentError, Option } from "commander";
import { parseDuration } from "../../model/retention/duration.ts";
import { usage } from "../failure.ts";
import type { Session } from "../session.ts";
import { expectStore } from "./expect-store.ts";

export const URL_SCHEME: RegExp = /^(?:memory:|sqlite:|file:|postgres(?:ql)?:\/\/|rediss?:\/\/)/;

export interface Declaration<Options> {
  readonly name: string;
  /** Another name of the command. */
  readonly alias?: string;
  readonly summary: string;
  /** Operands other than the url: "<thread>", "[checkpoint]", "[threads...]". */
  readonly operands?: readonly (readonly [name: string, meaning: string])[];
  readonly options?: readonly Option[];
  /** Command lines that work, shown by --help. */
  readonly examples: readonly string[];
  /** False for commands without a store; "new" for commands that make sense on an empty store. */
  readonly store?: false | "new";
  /** False for commands whose output is for other programs anyway. */
  readonly json?: false;
  run(invocation: Invocation<Options>): Promise<void>;
}

/** A single call of a command. */
export interface Invocation<Options> {
  readonly session: Session;
  readonly operands: readonly string[];
  readonly options: Options;
  /** The address of the store. */
  readonly url: string;
}

/** Adds a declared command to the program. Every command takes --url, or a url as its last operand, and --json. */
export function declare<Options>(program: Command, session: Session, declaration: Declaration<Options>): void {
  const { name, alias, summary, operands = [], options = [], examples, store, json } = declaration;
  const command = program.command(name).summary(summary).description(capitalised(summary));
  if (alias !== undefined) command.alias(alias);
  for (const [operand, meaning] of operands) command.argument(operand, meaning);
  const variadic = operands.some(([operand]) => operand.includes("..."));
  if (store !== false) {
    if (!variadic) command.argument("[url]", "the store, unless --url names it");
    command.addOption(new Option("-u, --url <url>", "the store (default: $THREADMARK_URL, or sqlite:threadmark.db)"));
  }
  for (const option of options) command.addOption(option);
  if (store !== false) command.addOption(keyFileOption());
  if (json !== false) command.addOption(new Option("--json", "print JSON, for programs"));
  command.addHelpText("after", `\nExample${examples.length === 1 ? "" : "s"}:\n${indented(examples)}`);
  command.action(async () => {
    const given = [...command.args];
    const all = command.optsWithGlobals() as Options & { readonly url?: string; readonly keyFile?: string };
    session.keyFile = all.keyFile;
    const required = operands.filter(([operand]) => operand.startsWith("<")).length;
    let named = all.url;
    if (store !== false && named === undefined && given.length > required && URL_SCHEME.test(given.at(-1)!)) {
      named = given.pop();
    }
    const [first = ""] = given;
    if (store !== false && named === undefined && given.length > required && URL_SCHEME.test(first))
      throw usage(`The url comes last, or with --url ${first}.`);
    if (!variadic && given.length > operands.length) throw usage(noUrl(given.at(-1)!));
    const url = session.urlOf(named);
    if (store === undefined) expectStore(url);
    await declaration.run({ session, operands: given, options: all, url });
  });
}

/** Returns the option that names the keys of an encrypted store; `declare` adds it to every command with a store. */
export function keyFileOption(): Option {
  return new Option("--key-file <file>", "the keys of an encrypted store (default: $THREADMARK_KEY_FILE)");
}

/** Says what a url looks like, to somebody who gave something else: a path, or the scheme of another database. */
function noUrl(text: string): string {
  const hint = /^[a-z][\w+]*:/i.test(text)
    ? "It begins with sqlite:, file:, memory:, postgres:// or redis://."
    : existsSync(text) && statSync(text).isDirectory()
      ? `Did you mean file:${text}?`
      : `Did you mean sqlite:${text}?`;
  return `${text} is no url that a store can have. ${hint}`;
}

function capitalised(text: string): string {
  return `${text[0]!.toUpperCase()}${text.slice(1)}.`;
}

function indented(lines: readonly string[]): string {
  return lines.map((line) => `  ${line}`).join("\n");
}

/** Returns a parser of whole numbers of at least `least` and at most `most`. */
export function wholeNumber(least: number, most: number = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^-?\d+$/.test(text) || !Number.isSafeInteger(value) || value < least || value > most) {
      const range = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
      throw new InvalidArgumentError(`It must be a whole number ${range}.`);
    }
    return value;
  };
}

export function duration(text: string): number {
  const milliseconds = parseDuration(text);
  if (milliseconds === undefined) throw new InvalidArgumentError("It must be a time like 90s, 30min, 12h, 30d or 2w.");
  return milliseconds;
}

/** Collects the values of an option that may be given several times. */
export function collected(text: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, text];
}

/** Returns the option for the inspector's port. */
export function portOption(flags: string): Option {
  return new Option(flags, "where the inspector listens").argParser(wholeNumber(0, 65_535)).default(0, "any free one");
}

/** Returns the option of commands that may begin a store: it then hides the ids. */
export function hideIdsOption(): Option {
  return new Option("--hide-ids", "where the store is new: encrypt ids, workflows, runs and attributes, too");
}

/** Returns the option for the namespace of a nested graph. */
export function namespaceOption(): Option {
  const option = new Option("-n, --namespace <part>", "the nested graph; once for each part of its path");
  return option.argParser(collected).default([], "the root");
}
