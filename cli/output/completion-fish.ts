import type { CompletedCommand, Offered } from "./completion-script.ts";
import { GRAPH_ENDINGS, GRAPH_NAMES, THREAD_IDS } from "./completion-sources.ts";

export function fishScript(commands: readonly CompletedCommand[]): string {
  return [
    FUNCTIONS,
    "complete -c ngc -f",
    ...commands.map(({ name, about }) => `complete -c ngc -n "__ngc_at 1" -a ${name} -d '${about}'`),
    ...commands.flatMap(({ name, options }) =>
      options.map(({ flag, short, about, value, isOptional }) => {
        const names = `-l ${flag.slice(2)}${short === undefined ? "" : ` -s ${short.slice(1)}`}`;
        // The value of an option that can do without it is written behind `=`.
        const taken = value === undefined || isOptional ? "" : ` ${offer(value, "-r")}`;
        return `complete -c ngc -n "__ngc_in ${name}" ${names} -d '${about}'${taken}`;
      }),
    ),
    ...commands.flatMap(({ name, arguments: given }) => {
      const [first] = given;
      const rest = given.slice(1).map(({ offered }) => offered);
      if (first === undefined) return [];
      const each = first.isRepeated ? [] : rest.map((offered) => [offered, `__ngc_behind ${name}`] as const);
      const condition = first.isRepeated ? `__ngc_in ${name}` : `__ngc_first ${name}`;
      return [[first.offered, condition] as const, ...each].flatMap(([offered, when]) =>
        offered.kind === "none" ? [] : [`complete -c ngc -n "${when}" ${offer(offered, "")}`],
      );
    }),
    "",
  ].join("\n");
}

function offer(offered: Offered, flags: string): string {
  return [flags, ...offerFlags(offered)].filter((part) => part !== "").join(" ");
}

function offerFlags(offered: Offered): readonly string[] {
  switch (offered.kind) {
    case "words":
      return ["-f", `-a '${offered.words.join(" ")}'`];
    case "files":
      return ["-F"];
    case "graph files":
      return ["-f", `-a '(__ngc_files)'`];
    case "directories":
      return ["-f", `-a '(__fish_complete_directories)'`];
    case "graphs":
      return ["-f", `-a '(__ngc_graphs)'`];
    case "threads":
      return ["-f", `-a '(__ngc_threads)'`];
    case "none":
      return ["-f"];
  }
}

const FUNCTIONS = `function __ngc_at
  test (count (commandline -opc)) -eq $argv[1]
end
function __ngc_in
  set -l words (commandline -opc)
  test (count $words) -gt 1; and test "$words[2]" = $argv[1]
end
function __ngc_first
  __ngc_in $argv[1]; and __ngc_at 2
end
function __ngc_behind
  __ngc_in $argv[1]; and not __ngc_at 2
end
function __ngc_files
  __fish_complete_directories
  for ending in ${GRAPH_ENDINGS.join(" ")}
    __fish_complete_suffix $ending | string match "*$ending"
  end
end
function __ngc_graphs
  for word in (commandline -opc)
    if string match -q -r '(${GRAPH_ENDINGS.map((ending) => `\\${ending}`).join("|")})$' -- $word; and test -f $word
      ${GRAPH_NAMES} $word
    end
  end
end
function __ngc_threads
  ${THREAD_IDS}
end`;
