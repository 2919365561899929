import { resolve } from "node:path";
import { StringDecoder } from "node:string_decoder";
import { CommandError } from "../process/command-error.ts";
import { defineCommand } from "../start/define-command.ts";
import { EXIT } from "../process/exit-codes.ts";
import type { Output } from "../output/output.ts";
import { findLoggedRun, logsOf, readFrom, type TaskLog } from "../plan/read-logs.ts";
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
    const printer = createPrinter(output, options.raw === true);
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

interface Printer {
  /** Prints what a log has in addition to the last call. A line without an end is printed when `isGrowing` is `false`. */
  print(log: TaskLog, isGrowing: boolean): void;
}

function createPrinter(output: Output, isRaw: boolean): Printer {
  const states = new Map<string, { position: number; rest: string; readonly decoder: StringDecoder }>();
  let last: string | undefined;
  const printTitle = ({ task, check, attempt, path }: TaskLog): void => {
    if (last === path) return;
    last = path;
    const what = check === undefined ? "" : `, check ${check}`;
    output.note(`==> ${task}, try ${attempt}${what} <==`);
  };
  return {
    print(log, isGrowing) {
      let state = states.get(log.path);
      if (state === undefined) {
        state = { position: 0, rest: "", decoder: new StringDecoder("utf8") };
        states.set(log.path, state);
      }
      for (const part of readFrom(log.path, state.position)) {
        state.position += part.byteLength;
        const text = state.rest + state.decoder.write(part);
        const end = text.lastIndexOf("\n");
        state.rest = text.slice(end + 1);
        if (end === -1) continue;
        printTitle(log);
        if (isRaw) output.raw(text.slice(0, end + 1));
        else output.result(text.slice(0, end));
      }
      if (isGrowing || state.rest === "") return;
      printTitle(log);
      if (isRaw) output.raw(state.rest);
      else output.result(state.rest);
      state.rest = "";
    },
  };
}
