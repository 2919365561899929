import { statSync } from "node:fs";
import { Command } from "commander";
import { isGraphFile } from "../compiler/load/find-file.ts";
import { findSimilar } from "../diagnostics/similar.ts";
import { checkCommand } from "./commands/check.ts";
import { compileCommand } from "./commands/compile.ts";
import { completionCommand } from "./commands/completion.ts";
import { convertCommand } from "./commands/convert.ts";
import { deleteCommand } from "./commands/delete.ts";
import { doctorCommand } from "./commands/doctor.ts";
import { evalCommand } from "./commands/eval.ts";
import { explainCommand } from "./commands/explain.ts";
import { fmtCommand } from "./commands/fmt.ts";
import { forkCommand } from "./commands/fork.ts";
import { exportCommand } from "./commands/export.ts";
import { graphCommand } from "./commands/graph.ts";
import { historyCommand } from "./commands/history.ts";
import { importCommand } from "./commands/import.ts";
import { labelCommand } from "./commands/label.ts";
import { logsCommand } from "./commands/logs.ts";
import { lspCommand } from "./commands/lsp.ts";
import { mcpCommand } from "./commands/mcp.ts";
import { migrateCommand } from "./commands/migrate.ts";
import { newCommand } from "./commands/new.ts";
import { planCommand } from "./commands/plan.ts";
import { pruneCommand } from "./commands/prune.ts";
import { resumeCommand } from "./commands/resume.ts";
import { rollbackCommand } from "./commands/rollback.ts";
import { runCommand } from "./commands/run.ts";
import { signalCommand } from "./commands/signal.ts";
import { serveCommand } from "./commands/serve.ts";
import { playgroundCommand } from "./commands/playground.ts";
import { studioCommand } from "./commands/studio.ts";
import { showCommand } from "./commands/show.ts";
import { testCommand } from "./commands/test.ts";
import { threadsCommand } from "./commands/threads.ts";
import { toolsCommand } from "./commands/tools.ts";
import { typesCommand } from "./commands/types.ts";
import { updateCommand } from "./commands/update.ts";
import { workerCommand } from "./commands/worker.ts";
import { deployCommand } from "./commands/deploy.ts";
import { writeTo } from "./output/output.ts";
import { quoteArgument } from "./output/quote-argument.ts";
import { printableText } from "./output/printable-text.ts";
import { addCommonOptions } from "./start/define-command.ts";
import { CommandError } from "./process/command-error.ts";
import type { ExitCode } from "./process/exit-codes.ts";
import { VERSION } from "./start/version.ts";

const COMMANDS = [
  checkCommand,
  compileCommand,
  typesCommand,
  runCommand,
  resumeCommand,
  signalCommand,
  rollbackCommand,
  historyCommand,
  showCommand,
  forkCommand,
  labelCommand,
  logsCommand,
  updateCommand,
  migrateCommand,
  threadsCommand,
  pruneCommand,
  deleteCommand,
  doctorCommand,
  testCommand,
  evalCommand,
  fmtCommand,
  convertCommand,
  importCommand,
  exportCommand,
  graphCommand,
  planCommand,
  mcpCommand,
  toolsCommand,
  serveCommand,
  studioCommand,
  playgroundCommand,
  workerCommand,
  deployCommand,
  lspCommand,
  explainCommand,
  completionCommand,
  newCommand,
];

/** The command line as a commander program. `finish` is called with the exit code of the command that ran. */
export function createProgram(finish: (code: ExitCode) => void): Command {
  const program = new Command("ngc")
    .description("Compiles, checks and runs agent and workflow graphs")
    .version(VERSION, "-V, --version", "print the version")
    .helpOption("-h, --help", "print help")
    .helpCommand(false)
    .exitOverride()
    .configureOutput({ writeErr: (text) => writeTo(process.stderr, printableText(text)) });
  addCommonOptions(program);
  for (const addCommand of COMMANDS) addCommand(program, finish);
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
