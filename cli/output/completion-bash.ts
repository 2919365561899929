import type { CompletedCommand, Offered } from "./completion-script.ts";
import { GRAPH_ENDINGS, GRAPH_NAMES, THREAD_IDS } from "./completion-sources.ts";

/** Runs in bash 3.2, which macOS has, and later. */
export function bashScript(commands: readonly CompletedCommand[]): string {
  const options = commands.flatMap(({ name, options }) =>
    options.flatMap(({ flag, short, value }) =>
      value === undefined
        ? []
        : [`    ${patterns(name, [flag, ...(short === undefined ? [] : [short])])}) ${set(value)} ;;`],
    ),
  );
  const positions = commands.flatMap(({ name, arguments: each }) =>
    each.map(({ offered, isRepeated }, at) => `    "${name} ${isRepeated ? '"*' : `${at}"`}) ${set(offered)} ;;`),
  );
  const flags = commands.map(
    ({ name, options }) => `    ${name}) flags="${lines(options.map(({ flag }) => flag))}" ;;`,
  );
  return `# Sets \`values\` for an option of a command. Fails for an option without a value.
_ngc_option() {
  case "$1 $2" in
${options.join("\n")}
    *) return 1 ;;
  esac
}

# Sets \`values\` for an argument of a command, by its position.
_ngc_argument() {
  case "$1 $2" in
${positions.join("\n")}
    *) values=none ;;
  esac
}

# Offers the lines of a text. They are compared and quoted, never expanded.
_ngc_words() {
  local each
  compopt +o filenames 2>/dev/null
  while IFS= read -r each; do
    if [[ -n $each && $each == "$word"* ]]; then
      printf -v each %q "$each"
      COMPREPLY+=("$each")
    fi
  done <<< "$1"
}

_ngc_files() {
  local each
  while IFS= read -r each; do COMPREPLY+=("$each"); done < <(
    if [ $# -eq 0 ]; then compgen -f -- "$word"; else compgen -d -- "$word"; fi
    for each in "$@"; do compgen -f -X "!*$each" -- "$word"; done
  )
}

_ngc_graphs() {
  local each
  for each in "\${COMP_WORDS[@]:2}"; do
    case "$each" in
      ${GRAPH_ENDINGS.map((ending) => `*${ending}`).join("|")}) [ -f "$each" ] && ${GRAPH_NAMES} "$each" ;;
    esac
  done
}

_ngc_offer() {
  case "$1" in
    words) _ngc_words "$2" ;;
    files) _ngc_files ;;
    graph-files) _ngc_files ${GRAPH_ENDINGS.join(" ")} ;;
    directories) _ngc_files / ;;
    graphs) _ngc_words "$(_ngc_graphs)" ;;
    threads) _ngc_words "$(${THREAD_IDS})" ;;
  esac
}

_ngc() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" command="\${COMP_WORDS[1]}"
  local values="" choices="" flags="" at=2 position=0
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    _ngc_words "${lines([...commands.map(({ name }) => name), "--help", "--version"])}"
    return
  fi
  # Bash divides \`--to=yaml\` into three words.
  if [ "$word" = "=" ]; then
    word=""
  elif [ "$before" = "=" ]; then
    before="\${COMP_WORDS[COMP_CWORD-2]}"
  fi
  if _ngc_option "$command" "$before"; then
    _ngc_offer "$values" "$choices"
    return
  fi
  case "$command" in
${flags.join("\n")}
  esac
  case "$word" in
    -*) _ngc_words "$flags"; return ;;
  esac
  while [ "$at" -lt "$COMP_CWORD" ]; do
    case "\${COMP_WORDS[at]}" in
      -*) if _ngc_option "$command" "\${COMP_WORDS[at]}"; then
          [ "\${COMP_WORDS[at+1]}" = "=" ] && at=$((at + 1))
          at=$((at + 1))
        fi ;;
      *) position=$((position + 1)) ;;
    esac
    at=$((at + 1))
  done
  _ngc_argument "$command" "$position"
  _ngc_offer "$values" "$choices"
}
complete -o filenames -F _ngc ngc
`;
}

function patterns(command: string, flags: readonly string[]): string {
  return flags.map((flag) => `"${command} ${flag}"`).join("|");
}

function set(offered: Offered): string {
  const kind = `values=${offered.kind.replace(" ", "-")}`;
  return offered.kind === "words" ? `${kind} choices="${lines(offered.words)}"` : kind;
}

/** Words on a line each, as the content of a quoted string. */
function lines(words: readonly string[]): string {
  return words.join("\n");
}
