import { resolve } from "node:path";
import { CommandError } from "../process/command-error.ts";
import { defineCommand } from "../start/define-command.ts";
import { EXIT } from "../process/exit-codes.ts";
import { printableText } from "../output/printable-text.ts";
import { createLogPrinter } from "../plan/print-logs.ts";
import { findLoggedRun, logsOf, type TaskLog } from "../plan/read-logs.ts";
import { RUNS_DIRECTORY } from "../plan/run-directory.ts";
import { runAtWork } from "../plan/tree-claim.ts";

interface LogsOptions {
  readonly follow?: boolean;
  readonly run?: string;
  readonly raw?: boolean;
}

/** Time between two looks at the files, in milliseconds. */
const POLL_MS = 100;

export const logsCommand = defineCommand<LogsOptions>({
  usage: "logs <thread> [task]",
  summary: "print what the tasks of a plan have printed",
  configure: (command) => {
    command
      .option("-f, --follow", "print what is added until the run ends")
      .option("--run <run>", "a run of the thread (default: the newest with output)")
      .option("--raw", "print control characters as they are");
  },
  examples: ["ngc logs nightly", "ngc logs nightly test -f", "ngc logs nightly 'test[22]' --raw > test.log"],
  async run([thread = "", task], options, output) {
    const runs = resolve(RUNS_DIRECTORY);
    const { follow = false, run } = options;
    if (follow && output.json)
      throw new CommandError("--follow prints lines as they come, and --json one document: choose one of them");
    const entry = findLoggedRun(runs, thread, { task, run, follow });
    const logs = logsOf(runs, entry.id, task);
    output.document({ version: 1, thread: entry.thread, run: entry.id, logs: logs.map(documentOf) });
    if (output.json) return EXIT.ok;
    const printer = createLogPrinter({
      title: (text) => output.note(text),
      text: (text) => output.raw(options.raw === true ? text : printableText(text)),
      endLine: () => output.raw(options.raw === true ? "" : "\n"),
    });
    for (;;) {
      // Asked before the files are read: what a run writes before its end is printed.
      const isAtWork = follow && runAtWork(runs) === entry.id;
      for (const log of logsOf(runs, entry.id, task)) printer.print(log, isAtWork);
      if (!isAtWork) break;
      await new Promise((done) => setTimeout(done, POLL_MS));
    }
    return EXIT.ok;
  },
});

function documentOf({ task, check, attempt, path, bytes }: TaskLog): object {
  return { task, attempt, ...(check === undefined ? {} : { check }), path, bytes };
}
