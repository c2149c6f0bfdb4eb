import type { Argument, Command, Option } from "commander";
import { stepName } from "../../display/steps/step-name.ts";
import type { ThreadsOptions } from "../../model/interface/store-options.ts";
import { URL_SCHEME } from "../input/declare.ts";
import { existingThread } from "../input/lookup.ts";
import type { Session } from "../session.ts";

/** The most candidates: more than fit on a screen are of no use. */
const OFFERED = 100;

/** The newest threads that are looked at where ids are hidden. */
const LOOKED_AT = 1_000;

/** Milliseconds to wait for a server: the user cannot type until Tab is answered. */
const patience = 500;

/** A completion of the word being typed, and its description. */
export interface Completion {
  readonly word: string;
  readonly meaning?: string;
}

/**
 * Adds the hidden command that the scripts of {@link completionCommand} call on every Tab. Its arguments are the words
 * typed so far, the last perhaps unfinished. It prints each candidate on a line, with its description after a tab. No
 * line means a file name, or nothing.
 */
export function completeCommand(program: Command, session: Session): void {
  program
    .command("complete", { hidden: true })
    .argument("[words...]")
    .action(async (words: readonly string[]) => {
      const candidates = await candidatesFor(program, session, words).catch(() => []);
      const unfinished = words.at(-1) ?? "";
      for (const { word, meaning = "" } of candidates) {
        // A shell would take a line break or a tab for the end of the word.
        if (!word.startsWith(unfinished) || /\p{Cc}/u.test(word)) continue;
        session.terminal.line(`${word}\t${meaning.replaceAll(/\p{Cc}/gu, " ")}`);
      }
    });
}

async function candidatesFor(
  program: Command,
  session: Session,
  words: readonly string[],
): Promise<readonly Completion[]> {
  const [name = "", ...typed] = words;
  if (words.length <= 1) return commandsOf(program);
  const command = program.commands.find((candidate) => candidate.name() === name);
  if (command === undefined) return [];
  const unfinished = typed.pop() ?? "";
  const { operands, values, awaiting } = read(command, typed);
  const url = session.urlOf(values.get("--url")?.at(-1) ?? operands.find((operand) => URL_SCHEME.test(operand)));
  if (awaiting !== undefined) return valuesOf(awaiting);
  if (unfinished.startsWith("-")) return optionsOf(command);
  return argumentsOf(command.registeredArguments[operands.length] ?? lastVariadic(command));

  async function valuesOf(option: Option): Promise<readonly Completion[]> {
    if (option.argChoices !== undefined) return option.argChoices.map((word) => ({ word }));
    if (option.flags.includes("<checkpoint>")) return checkpoints();
    return option.flags.includes("<thread>") && option.long !== "--into" ? threads() : [];
  }

  async function argumentsOf(argument: Argument | undefined): Promise<readonly Completion[]> {
    const kind = argument?.name() ?? "";
    if (kind === "shell") return ["bash", "zsh", "fish"].map((word) => ({ word }));
    if (kind === "thread" || kind === "threads") return threads();
    return ["checkpoint", "before", "after"].includes(kind) ? checkpoints() : [];
  }

  function threads(): Promise<readonly Completion[]> {
    return session.withStore(
      url,
      async (store) => {
        const offered = async (wanted: ThreadsOptions): Promise<readonly Completion[]> => {
          const found: Completion[] = [];
          for await (const { id, workflow, status } of store.threads(wanted)) {
            if (id.startsWith(unfinished))
              found.push({ word: id, meaning: workflow === null ? status : `${workflow}, ${status}` });
          }
          return found;
        };
        try {
          return await offered({ limit: OFFERED, ...(unfinished !== "" && { prefix: unfinished }) });
        } catch (error) {
          if (!(error instanceof TypeError)) throw error;
          // Hidden ids are not found by their beginning.
          return offered({ limit: LOOKED_AT, order: "updated" });
        }
      },
      true,
      patience,
    );
  }

  function checkpoints(): Promise<readonly Completion[]> {
    return session.withStore(
      url,
      async (store) => {
        const found: Completion[] = [];
        const thread = await existingThread(store, operands[0] ?? "", values.get("--namespace"));
        for await (const { id, step, node, source } of thread.history({ limit: OFFERED }))
          found.push({ word: id, meaning: `step ${step}, ${stepName({ node, source })}` });
        return found;
      },
      true,
      patience,
    );
  }
}

function commandsOf(program: Command): readonly Completion[] {
  const shown = program.createHelp().visibleCommands(program);
  return shown.map((command) => ({ word: command.name(), meaning: command.summary() }));
}

function optionsOf(command: Command): readonly Completion[] {
  const shown = command.createHelp().visibleOptions(command);
  return shown.flatMap((option) => (option.long ? [{ word: option.long, meaning: option.description }] : []));
}

function lastVariadic(command: Command): Argument | undefined {
  const last = command.registeredArguments.at(-1);
  return last?.variadic === true ? last : undefined;
}

interface Typed {
  readonly operands: readonly string[];
  /** Values given so far, by the long name of the option. */
  readonly values: ReadonlyMap<string, readonly string[]>;
  /** The option whose value comes next. */
  readonly awaiting: Option | undefined;
}

/** Tells operands, options and their values apart. */
function read(command: Command, typed: readonly string[]): Typed {
  const operands: string[] = [];
  const values = new Map<string, string[]>();
  const take = ({ long = "" }: Option, value: string): void =>
    void values.set(long, [...(values.get(long) ?? []), value]);
  let awaiting: Option | undefined;
  for (const word of typed) {
    if (awaiting !== undefined) {
      take(awaiting, word);
      awaiting = undefined;
    } else if (word.startsWith("-") && word !== "-") {
      const equals = word.indexOf("=");
      const flag = equals < 0 ? word : word.slice(0, equals);
      const option = command.options.find(({ short, long }) => short === flag || long === flag);
      if (option === undefined || !option.required) continue;
      if (equals < 0) awaiting = option;
      else take(option, word.slice(equals + 1));
    } else operands.push(word);
  }
  return { operands, values, awaiting };
}
