import type { Command } from "commander";
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
  /** Runs the command; `args` are the arguments without options. Heavy modules are imported here and not at the top of the file. */
  readonly run: (
    args: readonly string[],
    options: Options,
    output: Output,
    program: Command,
  ) => ExitCode | Promise<ExitCode>;
}

/** Adds a command to the program. */
export type AddCommand = (program: Command, finish: (code: ExitCode) => void) => void;

export function defineCommand<Options extends object>(definition: CommandDefinition<Options>): AddCommand {
  return (program, finish) => {
    const command = program.command(definition.usage).description(definition.summary);
    definition.configure?.(command);
    refuseRepeated(command);
    addCommonOptions(command);
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
