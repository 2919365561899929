import type { Command } from "commander";

interface Completed {
  readonly name: string;
  readonly about: string;
  readonly options: readonly { readonly flag: string; readonly about: string }[];
}

/** A script for a shell, made from the commands and options of the program. Arguments complete as files. */
export function completionScript(shell: "bash" | "zsh" | "fish", program: Command): string {
  const commands = program.commands.map((command): Completed => ({
    name: command.name(),
    about: plain(command.description()),
    options: [
      ...command.options.map(({ long, description }) => ({ flag: long ?? "", about: plain(description) })),
      HELP,
    ].filter(({ flag }) => flag !== ""),
  }));
  switch (shell) {
    case "bash":
      return bash(commands);
    case "zsh":
      return zsh(commands);
    case "fish":
      return fish(commands);
  }
}

const HELP = { flag: "--help", about: "print help" };

/** Text without the characters that quote or expand in a shell, on one line. */
function plain(text: string): string {
  return text
    .replaceAll(/["'`$\\[\]]/g, "")
    .replaceAll(/\s+/g, " ")
    .replaceAll(":", ",");
}

function bash(commands: readonly Completed[]): string {
  const cases = commands.map(
    ({ name, options }) => `    ${name}) words="${options.map(({ flag }) => flag).join(" ")}" ;;`,
  );
  return `_ngc() {
  local word="\${COMP_WORDS[COMP_CWORD]}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${commands.map(({ name }) => name).join(" ")} --help --version" -- "$word"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
${cases.join("\n")}
  esac
  case "$word" in
    -*) COMPREPLY=($(compgen -W "$words" -- "$word")) ;;
    *) COMPREPLY=($(compgen -f -- "$word")) ;;
  esac
}
complete -o filenames -F _ngc ngc
`;
}

function zsh(commands: readonly Completed[]): string {
  const cases = commands.map(
    ({ name, options }) =>
      `    ${name}) _arguments ${options.map(({ flag, about }) => `'${flag}[${about}]'`).join(" ")} '*:file:_files' ;;`,
  );
  return `#compdef ngc
_ngc() {
  local -a commands
  commands=(
${commands.map(({ name, about }) => `    '${name}:${about}'`).join("\n")}
  )
  if (( CURRENT == 2 )); then
    _describe 'command' commands
    return
  fi
  local command="\${words[2]}"
  shift words
  (( CURRENT-- ))
  case "$command" in
${cases.join("\n")}
    *) _files ;;
  esac
}
compdef _ngc ngc
`;
}

function fish(commands: readonly Completed[]): string {
  const names = commands.map(({ name }) => name).join(" ");
  return [
    `complete -c ngc -n "not __fish_seen_subcommand_from ${names}" -f`,
    ...commands.map(
      ({ name, about }) => `complete -c ngc -n "not __fish_seen_subcommand_from ${names}" -a ${name} -d '${about}'`,
    ),
    ...commands.flatMap(({ name, options }) =>
      options.map(
        ({ flag, about }) =>
          `complete -c ngc -n "__fish_seen_subcommand_from ${name}" -l ${flag.slice(2)} -d '${about}'`,
      ),
    ),
    "",
  ].join("\n");
}
