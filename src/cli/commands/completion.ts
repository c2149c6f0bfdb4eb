import type { Command } from "commander";
import { usage } from "../failure.ts";
import { declare } from "../input/declare.ts";
import type { Session } from "../session.ts";

/**
 * Each script asks the hidden command `complete`, so that threads and checkpoints are offered too and all candidates
 * are decided in a single place. Without a candidate, the shell offers files.
 */
const scripts: Readonly<Record<string, string>> = {
  // Bash cuts words at colons, as in urls. So the words are taken from the line itself, and text before a colon is not
  // repeated.
  bash: `_threadmark() {
  local line=\${COMP_LINE:0:COMP_POINT} word typed
  read -ra typed <<< "$line"
  case $line in *[[:space:]]) typed+=("") ;; esac
  local current=\${typed[\${#typed[@]}-1]} colons=
  case $COMP_WORDBREAKS in *:*) case $current in *:*) colons=\${current%:*}: ;; esac ;; esac
  COMPREPLY=()
  while IFS=$'\\t' read -r word _; do
    printf -v word %q "$word"
    COMPREPLY+=("\${word#"$colons"}")
  done < <(threadmark complete -- "\${typed[@]:1}" 2> /dev/null)
}
complete -o default -F _threadmark threadmark`,
  zsh: `#compdef threadmark
_threadmark() {
  local line
  local -a entries
  for line in "\${(@f)$(threadmark complete -- "\${(@Q)words[2,CURRENT]}" 2> /dev/null)}"; do
    [[ -n $line ]] && entries+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  if (( \${#entries} )); then _describe -V threadmark entries; else _files; fi
}
compdef _threadmark threadmark`,
  fish: `function __threadmark_complete
    set -l typed (commandline -opc) (commandline -ct)
    set -l found (threadmark complete -- $typed[2..] 2> /dev/null)
    if test (count $found) -gt 0
        printf '%s\\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c threadmark -f -a '(__threadmark_complete)'`,
};

export function completionCommand(program: Command, session: Session): void {
  declare(program, session, {
    name: "completion",
    summary: "print a script that completes commands, options, threads and checkpoints in a shell",
    operands: [["<shell>", "bash, zsh or fish"]],
    examples: [
      "source <(threadmark completion bash)                                        # in ~/.bashrc",
      "source <(threadmark completion zsh)                                         # in ~/.zshrc, after compinit",
      "threadmark completion fish > ~/.config/fish/completions/threadmark.fish",
    ],
    store: false,
    json: false,
    async run({ operands: [shell = ""] }) {
      const script = Object.hasOwn(scripts, shell) ? scripts[shell] : undefined;
      if (script === undefined)
        throw usage(`There is no completion for ${JSON.stringify(shell)}. Name bash, zsh or fish.`);
      session.terminal.line(script);
    },
  });
}
