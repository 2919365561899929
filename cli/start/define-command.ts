import { CommanderError, type Command } from "commander";
import type { ExitCode } from "../process/exit-codes.ts";
import { CommandError } from "../process/command-error.ts";
import { createOutput, type CommonOptions, type Output } from "../output/output.ts";

/** The definition of a command; each file in `commands/` exports one. */
export interface CommandDefinition<Options> {
  /** Name and arguments in commander's notation: `check <path...>`. */
  readonly usage: string;
  readonly summary: string;
  /** Adds the command's own options. */
  readonly configure?: (command: Command) => void;
  /** Commands to copy, shown below the help text. */
  readonly examples?: readonly string[];
  /** The way out of arguments that the command does not take; `undefined` refers to the help text. */
  readonly helpWith?: (mistake: Mistake) => string | undefined;
  /** Runs the command; `args` are the arguments without options. Heavy modules are imported here and not at the top of the file. */
  readonly run: (
    args: readonly string[],
    options: Options,
    output: Output,
    program: Command,
  ) => ExitCode | Promise<ExitCode>;
}

/** Arguments that do not fit the command. */
export interface Mistake {
  readonly kind: "too many arguments" | "unknown option" | "missing option" | "missing argument" | "other";
  /** All arguments that are not options of the command. */
  readonly args: readonly string[];
}

const MISTAKES: Readonly<Record<string, Mistake["kind"]>> = {
  "commander.excessArguments": "too many arguments",
  "commander.unknownOption": "unknown option",
  "commander.missingMandatoryOptionValue": "missing option",
  "commander.missingArgument": "missing argument",
};

/** Adds a command to the program. */
export type AddCommand = (program: Command, finish: (code: ExitCode) => void) => void;

export function defineCommand<Options extends object>(definition: CommandDefinition<Options>): AddCommand {
  return (program, finish) => {
    const command = program.command(definition.usage).description(definition.summary);
    definition.configure?.(command);
    refuseRepeated(command);
    addCommonOptions(command);
    command.exitOverride((error) => {
      throw wrongUsage(error, command, definition.helpWith);
    });
    command.configureOutput({ outputError: () => {} });
    const { examples } = definition;
    if (examples !== undefined) {
      command.addHelpText("after", `\nExamples:\n${examples.map((line) => `  $ ${line}`).join("\n")}`);
    }
    command.action(async () => {
      const options = command.opts<Options & CommonOptions>();
      const output = createOutput(mergeCommon(program.opts<CommonOptions>(), options));
      finish(await definition.run(command.args, options, output, program));
    });
  };
}

/** Adds the options that are accepted both before and after the command's name. */
export function addCommonOptions(command: Command): void {
  command
    .option("--json", "print one JSON document on stdout and nothing else")
    .option("--no-color", "print without colours")
    .option("-q, --quiet", "print no progress");
}

function mergeCommon(before: CommonOptions, after: CommonOptions): CommonOptions {
  return {
    json: before.json === true || after.json === true,
    color: before.color !== false && after.color !== false,
    quiet: before.quiet === true || after.quiet === true,
  };
}

/** Refuses an option with one value that is given twice: which of the values applies would be a guess. */
function refuseRepeated(command: Command): void {
  for (const option of command.options) {
    if (option.isBoolean() || option.variadic || option.description.includes("may be repeated")) continue;
    let isGiven = false;
    command.on(`option:${option.name()}`, () => {
      if (isGiven) throw new CommandError(`${option.long ?? option.flags} is given twice`, { help: "give it once" });
      isGiven = true;
    });
  }
}

/** What commander refuses, with a way out. Help and version, which commander has printed, stay as they are. */
function wrongUsage(
  error: CommanderError,
  command: Command,
  helpWith: CommandDefinition<object>["helpWith"],
): CommanderError | CommandError {
  if (error.exitCode === 0 || error.code === "commander.help") return error;
  const kind = MISTAKES[error.code] ?? "other";
  const [message = "", ...rest] = error.message.replace(/^error: /, "").split("\n");
  // Commander proposes a similar option in a line of its own.
  const similar = /\(Did you mean (?:one of )?(.*)\?\)/.exec(rest.join(" "))?.[1];
  const help =
    (similar === undefined ? helpWith?.({ kind, args: command.args }) : `did you mean \`${similar}\`?`) ??
    `\`ngc ${command.name()} --help\` lists the arguments and options`;
  return new CommandError(message, { help });
}
