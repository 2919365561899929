import { statSync } from "node:fs";
import { Command } from "commander";
import { isGraphFile } from "../compiler/load/find-file.ts";
import { findSimilar } from "../diagnostics/similar.ts";
import { writeTo } from "./output/output.ts";
import { quoteArgument } from "./output/quote-argument.ts";
import { printableText } from "./output/printable-text.ts";
import { addCommonOptions, type AddCommand } from "./start/define-command.ts";
import { CommandError } from "./process/command-error.ts";
import type { ExitCode } from "./process/exit-codes.ts";
import { VERSION } from "./start/version.ts";

/** The commands in the order of the help text. A command line loads its own alone, unless it lists them. */
const COMMANDS: ReadonlyMap<string, () => Promise<AddCommand>> = new Map([
  ["check", async () => (await import("./commands/check.ts")).checkCommand],
  ["compile", async () => (await import("./commands/compile.ts")).compileCommand],
  ["types", async () => (await import("./commands/types.ts")).typesCommand],
  ["run", async () => (await import("./commands/run.ts")).runCommand],
  ["resume", async () => (await import("./commands/resume.ts")).resumeCommand],
  ["signal", async () => (await import("./commands/signal.ts")).signalCommand],
  ["rollback", async () => (await import("./commands/rollback.ts")).rollbackCommand],
  ["history", async () => (await import("./commands/history.ts")).historyCommand],
  ["show", async () => (await import("./commands/show.ts")).showCommand],
  ["fork", async () => (await import("./commands/fork.ts")).forkCommand],
  ["label", async () => (await import("./commands/label.ts")).labelCommand],
  ["logs", async () => (await import("./commands/logs.ts")).logsCommand],
  ["update", async () => (await import("./commands/update.ts")).updateCommand],
  ["migrate", async () => (await import("./commands/migrate.ts")).migrateCommand],
  ["threads", async () => (await import("./commands/threads.ts")).threadsCommand],
  ["prune", async () => (await import("./commands/prune.ts")).pruneCommand],
  ["delete", async () => (await import("./commands/delete.ts")).deleteCommand],
  ["doctor", async () => (await import("./commands/doctor.ts")).doctorCommand],
  ["test", async () => (await import("./commands/test.ts")).testCommand],
  ["eval", async () => (await import("./commands/eval.ts")).evalCommand],
  ["fmt", async () => (await import("./commands/fmt.ts")).fmtCommand],
  ["convert", async () => (await import("./commands/convert.ts")).convertCommand],
  ["import", async () => (await import("./commands/import.ts")).importCommand],
  ["export", async () => (await import("./commands/export.ts")).exportCommand],
  ["graph", async () => (await import("./commands/graph.ts")).graphCommand],
  ["plan", async () => (await import("./commands/plan.ts")).planCommand],
  ["mcp", async () => (await import("./commands/mcp.ts")).mcpCommand],
  ["tools", async () => (await import("./commands/tools.ts")).toolsCommand],
  ["serve", async () => (await import("./commands/serve.ts")).serveCommand],
  ["studio", async () => (await import("./commands/studio.ts")).studioCommand],
  ["playground", async () => (await import("./commands/playground.ts")).playgroundCommand],
  ["worker", async () => (await import("./commands/worker.ts")).workerCommand],
  ["deploy", async () => (await import("./commands/deploy.ts")).deployCommand],
  ["lsp", async () => (await import("./commands/lsp.ts")).lspCommand],
  ["explain", async () => (await import("./commands/explain.ts")).explainCommand],
  ["completion", async () => (await import("./commands/completion.ts")).completionCommand],
  ["new", async () => (await import("./commands/new.ts")).newCommand],
]);

/**
 * The command line as a commander program.
 *
 * @param name the command that is called; any other text loads all commands, which help texts and suggestions name
 * @param finish is called with the exit code of the command that ran
 */
export async function createProgram(name: string, finish: (code: ExitCode) => void): Promise<Command> {
  const called = name === "completion" ? undefined : COMMANDS.get(name);
  const commands = await Promise.all(called === undefined ? [...COMMANDS.values()].map((load) => load()) : [called()]);
  const program = new Command("ngc")
    .description("Compiles, checks and runs agent and workflow graphs")
    .version(VERSION, "-V, --version", "print the version")
    .helpOption("-h, --help", "print help")
    .helpCommand(false)
    .exitOverride()
    .configureOutput({ writeErr: (text) => writeTo(process.stderr, printableText(text)) });
  addCommonOptions(program);
  for (const addCommand of commands) addCommand(program, finish);
  program
    .command("help")
    .argument("[command]")
    .description("print help for a command")
    .action((name: string | undefined) => {
      const command = name === undefined ? program : program.commands.find((each) => each.name() === name);
      if (command === undefined) throw unknownCommand(name ?? "", program);
      command.outputHelp();
    });
  program.on("command:*", ([name = ""]: readonly string[]) => {
    throw unknownCommand(name, program);
  });
  program.addHelpText(
    "after",
    `
Exit codes:
  0 done, valid   1 the run or a test failed, a file is stale   2 the graph is invalid   3 the run waits for an answer
  64 wrong usage, unreadable input   70 a bug in this program   130 interrupted`,
  );
  return program;
}

/** A first user writes `ngc hello.ngraph`: the help names the commands that take a file. */
function unknownCommand(name: string, program: Command): CommandError {
  if (isGraphFile(name) || statSync(name, { throwIfNoEntry: false })?.isDirectory() === true) {
    const file = quoteArgument(name);
    const help = isGraphFile(name)
      ? `\`ngc check ${file}\` checks it, \`ngc run ${file}\` runs it, \`ngc graph ${file}\` draws it`
      : `\`ngc check ${file}\` checks the graph files in it; \`ngc --help\` lists the commands`;
    return new CommandError(`missing command before '${name}'`, { help });
  }
  const similar =
    NAMES_ELSEWHERE.get(name) ??
    findSimilar(
      name,
      program.commands.map((command) => command.name()),
    );
  const help = similar === undefined ? "`ngc --help` lists the commands" : `did you mean \`ngc ${similar}\`?`;
  return new CommandError(`unknown command '${name}'`, { help });
}

/** Names that other tools give to what these commands do. */
const NAMES_ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ["answer", "resume"],
  ["build", "compile"],
  ["create", "new"],
  ["draw", "graph"],
  ["exec", "run"],
  ["format", "fmt"],
  ["generate", "compile"],
  ["init", "new"],
  ["lint", "check"],
  ["start", "run"],
  ["validate", "check"],
  ["version", "--version"],
]);
