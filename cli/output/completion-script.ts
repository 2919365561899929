/** Scripts that complete `ngc` in a shell, made from what commander knows of the program. */
import type { Argument, Command, Option } from "commander";
import { bashScript } from "./completion-bash.ts";
import { fishScript } from "./completion-fish.ts";
import { zshScript } from "./completion-zsh.ts";

/** What a shell offers for a value. `graphs` are the names of a graph file that the line has. */
export type Offered =
  | { readonly kind: "none" | "files" | "graph files" | "directories" | "graphs" | "threads" }
  | { readonly kind: "words"; readonly words: readonly string[] };

export interface CompletedOption {
  /** With the dashes: `--output`. */
  readonly flag: string;
  /** `-o`. */
  readonly short: string | undefined;
  readonly about: string;
  /** `undefined` for an option without a value. */
  readonly value: Offered | undefined;
  /** Whether the value may be left out. */
  readonly isOptional: boolean;
}

export interface CompletedArgument {
  readonly name: string;
  readonly offered: Offered;
  readonly isRepeated: boolean;
}

export interface CompletedCommand {
  readonly name: string;
  readonly about: string;
  readonly options: readonly CompletedOption[];
  readonly arguments: readonly CompletedArgument[];
}

export function completionScript(shell: "bash" | "zsh" | "fish", program: Command): string {
  const commands = program.commands.map((command): CompletedCommand => ({
    name: command.name(),
    about: plain(command.description()),
    options: [...command.options.filter(({ long }) => typeof long === "string").map(completedOption), HELP],
    arguments: command.registeredArguments.map((argument) => completedArgument(argument, command)),
  }));
  switch (shell) {
    case "bash":
      return bashScript(commands);
    case "zsh":
      return zshScript(commands);
    case "fish":
      return fishScript(commands);
  }
}

const HELP: CompletedOption = {
  flag: "--help",
  short: "-h",
  about: "print help",
  value: undefined,
  isOptional: false,
};

function completedOption(option: Option): CompletedOption {
  const { long = "", short, flags, description, defaultValue } = option;
  const placeholder = /[<[]([^>\]]*)[>\]]/.exec(flags)?.[1] ?? "";
  return {
    flag: long ?? "",
    short: short ?? undefined,
    about: plain(description),
    value: option.isBoolean() ? undefined : offeredFor(placeholder, long ?? "", option.argChoices, defaultValue),
    isOptional: option.optional,
  };
}

function completedArgument(argument: Argument, command: Command): CompletedArgument {
  const offered = offeredFor(argument.name(), "", argument.argChoices, undefined);
  // `ngc import` reads the files of other systems.
  const isForeign = command.name() === "import";
  return {
    name: argument.name(),
    offered: isForeign ? { kind: "files" } : offered,
    isRepeated: argument.variadic,
  };
}

/** By the choices, else by the name of the placeholder, else the default. */
function offeredFor(
  placeholder: string,
  flag: string,
  choices: readonly string[] | undefined,
  usual: unknown,
): Offered {
  if (choices !== undefined) return { kind: "words", words: choices };
  if (flag === "--graph" || placeholder === "graph") return { kind: "graphs" };
  if (flag === "--thread") return { kind: "threads" };
  switch (placeholder.replace("...", "")) {
    case "file":
    case "path":
      return { kind: flag === "" || flag === "--file" || flag === "--stdin-filepath" ? "graph files" : "files" };
    case "old":
    case "store":
      return { kind: "files" };
    case "directory":
      return { kind: "directories" };
    case "thread":
      return { kind: "threads" };
    default:
      return typeof usual === "string" ? { kind: "words", words: [usual] } : { kind: "none" };
  }
}

/** Text without the characters that quote or expand in a shell, on one line. */
function plain(text: string): string {
  return text
    .replaceAll(/["'`$\\[\]]/g, "")
    .replaceAll(/\s+/g, " ")
    .replaceAll(":", ",");
}
