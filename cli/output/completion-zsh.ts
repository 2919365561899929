import type { CompletedArgument, CompletedCommand, CompletedOption, Offered } from "./completion-script.ts";
import { GRAPH_ENDINGS, GRAPH_NAMES, THREAD_IDS } from "./completion-sources.ts";

export function zshScript(commands: readonly CompletedCommand[]): string {
  const cases = commands.map(({ name, options, arguments: given }) => {
    const specs = [...options.flatMap(optionSpecs), ...given.map(argumentSpec)];
    return `    ${name}) _arguments ${specs.map((spec) => `'${spec}'`).join(" ")} ;;`;
  });
  return `#compdef ngc
_ngc_graphs() {
  local -a names
  local each
  for each in $words; do
    case "$each" in
      ${GRAPH_ENDINGS.map((ending) => `*${ending}`).join("|")}) [[ -f $each ]] && names+=(\${(f)"$(${GRAPH_NAMES} $each)"}) ;;
    esac
  done
  compadd -a names
}

_ngc_threads() {
  local -a names
  names=(\${(f)"$(${THREAD_IDS})"})
  compadd -a names
}

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

function optionSpecs({ flag, short, about, value, isOptional }: CompletedOption): readonly string[] {
  if (value === undefined) return [flag, ...(short === undefined ? [] : [short])].map((each) => `*${each}[${about}]`);
  const behind = `[${about}]${isOptional ? "::" : ":"}value:${action(value)}`;
  return [`*${flag}${isOptional ? "" : "="}${behind}`, ...(short === undefined ? [] : [`*${short}${behind}`])];
}

function argumentSpec({ name, offered, isRepeated }: CompletedArgument, at: number): string {
  return `${isRepeated ? "*" : String(at + 1)}:${name}:${action(offered)}`;
}

function action(offered: Offered): string {
  switch (offered.kind) {
    case "words":
      return `(${offered.words.map((word) => word.replaceAll(":", "\\:")).join(" ")})`;
    case "files":
      return "_files";
    case "graph files":
      return `_files -g "*(${GRAPH_ENDINGS.join("|")})"`;
    case "directories":
      return "_files -/";
    case "graphs":
      return "_ngc_graphs";
    case "threads":
      return "_ngc_threads";
    case "none":
      return " ";
  }
}
