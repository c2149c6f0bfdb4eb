import type { Command, Option } from "commander";
import { declare } from "../declare.ts";
import { usage } from "../failure.ts";
import type { Session } from "../session.ts";

const scripts: Readonly<Record<string, (program: Command) => string>> = { bash, zsh, fish };

export function completionCommand(program: Command, session: Session): void {
  declare(program, session, {
    name: "completion",
    summary: "print a script that completes commands and options in a shell",
    operands: [["<shell>", "bash, zsh or fish"]],
    examples: [
      "source <(threadmark completion bash)                                        # in ~/.bashrc",
      "source <(threadmark completion zsh)                                         # in ~/.zshrc",
      "threadmark completion fish > ~/.config/fish/completions/threadmark.fish",
    ],
    store: false,
    json: false,
    async run({ operands: [shell = ""] }) {
      const script = Object.hasOwn(scripts, shell) ? scripts[shell] : undefined;
      if (script === undefined)
        throw usage(`There is no completion for ${JSON.stringify(shell)}. Name bash, zsh or fish.`);
      session.terminal.line(script(program).trimEnd());
    },
  });
}

const visible = (command: Command): readonly Option[] => command.createHelp().visibleOptions(command);
const names = (option: Option): string[] =>
  [option.short, option.long].filter((name): name is string => name !== undefined && name !== null);
/** Within single quotes of a shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

function bash(program: Command): string {
  const cases = program.commands.map((command) => {
    const options = visible(command).flatMap(names).join(" ");
    return `    ${command.name()}) words=${quoted(options)} ;;`;
  });
  const choices = program.commands.flatMap((command) =>
    visible(command)
      .filter((option) => option.argChoices !== undefined)
      .flatMap((option) =>
        names(option).map((name) => `    ${command.name()}:${name}) words=${quoted(option.argChoices!.join(" "))} ;;`),
      ),
  );
  return `_threadmark() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} command=\${COMP_WORDS[1]} words=
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W ${quoted(program.commands.map((command) => command.name()).join(" "))} -- "$current"))
    return
  fi
  case $command:$previous in
${choices.join("\n")}
    *:--output|*:--dir|import:import|import-langgraph:import-langgraph) COMPREPLY=($(compgen -f -- "$current")); return ;;
    completion:completion) words='bash zsh fish' ;;
  esac
  [ -z "$words" ] && case $command in
${cases.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -F _threadmark threadmark
`;
}

function zsh(program: Command): string {
  const escaped = (text: string): string =>
    text.replaceAll("\\", "\\\\").replaceAll(":", "\\:").replaceAll("[", "\\[").replaceAll("]", "\\]");
  const commands = program.commands.map(
    (command) => `    ${quoted(`${command.name()}:${escaped(command.summary())}`)}`,
  );
  const cases = program.commands.map((command) => {
    const options = visible(command).flatMap((option) =>
      names(option).map((name) => {
        const value = option.required || option.optional ? `:value:(${option.argChoices?.join(" ") ?? ""})` : "";
        return `        ${quoted(`${name}[${escaped(option.description)}]${value}`)}`;
      }),
    );
    return `      ${command.name()})\n        _arguments \\\n${options.join(" \\\n")} \\\n        '*:operand:_files'\n        ;;`;
  });
  return `#compdef threadmark
_threadmark() {
  local -a commands=(
${commands.join("\n")}
  )
  local context state line
  _arguments -C '1:command:->command' '*::argument:->argument'
  case $state in
    command) _describe command commands ;;
    argument) case $words[1] in
${cases.join("\n")}
    esac ;;
  esac
}
compdef _threadmark threadmark
`;
}

function fish(program: Command): string {
  const lines = ["complete -c threadmark -f"];
  for (const command of program.commands) {
    const name = command.name();
    lines.push(`complete -c threadmark -n __fish_use_subcommand -a ${name} -d ${quoted(command.summary())}`);
    for (const option of visible(command)) {
      const flags = [option.short && `-s ${option.short.slice(1)}`, option.long && `-l ${option.long.slice(2)}`]
        .filter(Boolean)
        .join(" ");
      const value =
        option.argChoices !== undefined ? ` -xa ${quoted(option.argChoices.join(" "))}` : option.required ? " -r" : "";
      lines.push(
        `complete -c threadmark -n '__fish_seen_subcommand_from ${name}' ${flags}${value} -d ${quoted(option.description)}`,
      );
    }
  }
  lines.push("complete -c threadmark -n '__fish_seen_subcommand_from completion' -a 'bash zsh fish'");
  return `${lines.join("\n")}\n`;
}
