import { printable } from "../diagnostics/render/index.ts";
import { writeSync } from "node:fs";
// The global variable may be replaced by user code.
import process from "node:process";
import { CommanderError } from "commander";
import { NgraphError } from "../runtime/interface/errors.ts";
import { CommandError } from "./process/command-error.ts";
import { replacedBuiltin } from "./process/builtin-objects.ts";
import { endProcess, hasEnded } from "./process/end-process.ts";
import { EXIT, type ExitCode } from "./process/exit-codes.ts";
import { hasResult, onImpatientSignal, wasInterrupted } from "./process/interruption.ts";
import { stopLiveBlocks } from "./output/live-block.ts";
import { writeDocument, writeTo } from "./output/output.ts";
import { printableText } from "./output/printable-text.ts";
import { stdoutFailure, watchOutputStreams } from "./process/output-streams.ts";
import { createProgram } from "./program.ts";
import { MISSING_PART } from "./start/missing-part.ts";
import { currentStage, activeRun, type Stage } from "./process/stage.ts";
import { reasonOf } from "./sources/source-files.ts";
import { describeThrown, describeUserError, isThrownElsewhere, messageOf } from "./process/user-error.ts";

/** Errors of the runtime that are caused by wrong usage of a command. */
const WRONG_USAGE: ReadonlySet<string> = new Set([
  "NG_BAD_INPUT",
  "NG_MISSING_FUNCTION",
  "NG_MISSING_SECRET",
  "NG_UNKNOWN_THREAD",
  "NG_UNKNOWN_CHECKPOINT",
  "NG_NOT_PAUSED",
  "NG_BAD_ANSWER",
  "NG_NO_STORE",
]);

/** Help for runtime errors in terms of the command line. The runtime's own messages can only refer to its API. */
const HELP: ReadonlyMap<string, string> = new Map([
  [
    "NG_MISSING_FUNCTION",
    "`llm` needs a model: `models` in ngraph.json, or OPENAI_API_KEY or OPENAI_BASE_URL, and NGRAPH_MODEL; `tool` needs `servers` in ngraph.json; --builtins FILE supplies any node",
  ],
  ["NG_MISSING_SECRET", "set each in the environment of the command: a secret is the variable with its name"],
  ["NG_EFFECT_DENIED", "name the effect with --allow and in `allow` of ngraph.json, or leave both out"],
  ["NG_DRIFT", "`ngc migrate --help` explains the options"],
  ["NG_THREAD_BUSY", "resume the thread, or start a new run with --abandon"],
]);

/** Threads of plans are not migrated: the messages about them name another remedy. */
function helpFor({ code, message }: NgraphError): string | undefined {
  return code === "NG_DRIFT" && !message.includes("migrate") ? undefined : HELP.get(code);
}

/** Errors after the end of a run that are printed. A node may leave thousands of promises. */
const MAX_LATE_ERRORS = 20;

/** Runs one command line and ends the process with its exit code. */
export async function main(args: readonly string[]): Promise<void> {
  let exitCode: ExitCode = EXIT.ok;
  let lateErrors = 0;
  const json = args.includes("--json");
  const fail = (error: unknown): void => {
    try {
      if (currentStage().name !== "over") endProcess(report(error, json));
      // An error of user code after the end of the run does not change its result.
      lateErrors++;
      if (lateErrors > MAX_LATE_ERRORS + 1) return;
      const text = lateErrors > MAX_LATE_ERRORS ? "further errors" : (describeUserError(error) ?? messageOf(error));
      say(`warning: after the run's end: ${text}`);
    } catch {
      endBroken();
    }
  };
  watchOutputStreams();
  reportEarlyExit(json);
  onImpatientSignal(() => endProcess(report(interrupted(), json)));
  process.on("uncaughtException", fail);
  process.on("unhandledRejection", fail);
  try {
    const program = await createProgram(args[0] ?? "", (code) => (exitCode = code));
    await program.parseAsync(args, { from: "user" });
  } catch (error) {
    try {
      exitCode = report(error, json);
    } catch {
      endBroken();
    }
  }
  if (!(await flushed(process.stdout)) && hasResult()) exitCode = EXIT.interrupted;
  // A stream is destroyed before it emits its error.
  await new Promise((next) => setImmediate(next));
  const failure = stdoutFailure();
  if (failure !== undefined) {
    say(`error: cannot write to standard output: ${reasonOf(failure)}`);
    // The result is lost, so an exit code of 0 would be wrong.
    exitCode = EXIT.failed;
  }
  await flushed(process.stderr);
  // User code may have left timers and connections open; the command ends nevertheless.
  endProcess(exitCode);
}

/** Ends the process if not even an error can be reported: user code has replaced functions such as `Array.prototype.map`. */
function endBroken(): never {
  try {
    const replaced = replacedBuiltin();
    const what =
      replaced === undefined ? "broken built-in objects of JavaScript" : "replaced or frozen `" + replaced + "`";
    writeSync(2, "error: user code has " + what + ", and the run cannot continue\n");
  } finally {
    endProcess(EXIT.failed);
  }
}

/** If the process ends before its command does, reports a failure whatever the exit code is. */
function reportEarlyExit(json: boolean): void {
  process.once("beforeExit", () => {
    const waiting = currentStage().name === "loading" ? "an imported module" : "a node";
    const message = `${waiting} waits for a promise that never settles: no timer, request or other work is pending`;
    endProcess(report(endedEarly(message), json));
  });
  process.once("exit", (code) => {
    if (hasEnded()) return;
    const call = `ended the process (\`process.exit(${code})\`)`;
    process.exitCode = report(endedEarly(earlyExitMessages[currentStage().name](call)), json);
  });
}

const earlyExitMessages: Readonly<Record<Stage["name"], (call: string) => string>> = {
  idle: (call) => `user code ${call}`,
  loading: (call) => `an imported module ${call} while it was loaded`,
  running: (call) =>
    `a node ${call}: its result is lost${resumeHint() === undefined ? "" : ", the thread can be resumed"}`,
  over: (call) => `user code ${call} after the run's end, before its result was printed`,
};

function endedEarly(message: string): CommandError {
  return new CommandError(message, { exitCode: EXIT.failed, code: "user_code", help: resumeHint() });
}

function interrupted(): CommandError {
  return new CommandError("interrupted", { exitCode: EXIT.interrupted, code: "interrupted", help: resumeHint() });
}

/** The command that resumes the current run, if its thread is stored. */
function resumeHint(): string | undefined {
  const run = activeRun();
  return run?.command === undefined ? undefined : `resume with: ${run.command}`;
}

/** How long a command that a signal has ended waits for a reader of its output. */
const FLUSH_MS = 2_000;

/** Whether all output has been written: after a signal, a command does not wait for a reader. */
function flushed(stream: NodeJS.WriteStream): Promise<boolean> {
  return new Promise((end) => {
    const resolve = (): void => end(true);
    if (wasInterrupted()) setTimeout(() => end(false), FLUSH_MS);
    // Even an empty write fails on a full disk, and would hide the exit code of a command that prints nothing.
    if (stream.destroyed || !stream.writable || stream.writableLength === 0) resolve();
    else writeTo(stream, "", resolve);
  });
}

/** Prints an error of a command; returns the exit code. */
export function report(error: unknown, json: boolean): ExitCode {
  // Help and version were requested; commander has printed them.
  if (error instanceof CommanderError && error.exitCode === 0) return EXIT.ok;
  stopLiveBlocks();
  const { exitCode, code, help, ...explained } = explain(error);
  const message = withPrintableArguments(explained.message);
  const isPrinted = error instanceof CommanderError;
  if (!isPrinted) say(`error: ${message}`);
  if (!isPrinted && help !== undefined) say(`  = help: ${help}`);
  if (json) {
    const run = activeRun();
    const thread = run?.thread === undefined ? {} : { thread: run.thread };
    writeDocument({ version: 1, ok: false, ...thread, error: { code, message, help: help ?? null } });
  }
  if (process.env["NGRAPH_DEBUG"] === "1" && error instanceof Error) say(`${error.stack}`);
  return exitCode;
}

/** Escapes line breaks of arguments that a message repeats, so that a thread id or label cannot imitate another message. */
function withPrintableArguments(message: string): string {
  const several = process.argv.slice(2).filter((argument) => argument.includes("\n") && argument.trim() !== "");
  return several.reduce((text, argument) => text.replaceAll(argument, () => printable(argument)), message);
}

function say(text: string): void {
  writeTo(process.stderr, `${printableText(text)}\n`);
}

const AWAIT = "await every promise that a node starts, so that its failure is reported as a failure of the node";

function helpAwait(): string {
  const hint = resumeHint();
  return hint === undefined ? AWAIT : `${AWAIT}; ${hint}`;
}

interface Explanation {
  readonly exitCode: ExitCode;
  readonly code: string;
  readonly message: string;
  readonly help?: string | undefined;
}

function explain(error: unknown): Explanation {
  if (error instanceof CommandError) {
    return { exitCode: error.exitCode, code: error.code, message: error.message, help: error.help };
  }
  if (error instanceof CommanderError) {
    // Without a command, commander has printed the help.
    const isBare = error.code === "commander.help";
    const message = isBare ? "missing command" : error.message.replace(/^error: /, "");
    return {
      exitCode: EXIT.usage,
      code: "usage",
      message,
      help: isBare ? "`ngc --help` lists the commands" : undefined,
    };
  }
  if (error instanceof NgraphError) {
    const isInterrupted = error.code === "NG_CANCELLED";
    const exitCode = isInterrupted ? EXIT.interrupted : WRONG_USAGE.has(error.code) ? EXIT.usage : EXIT.failed;
    return { exitCode, code: error.code, message: `${error.message} [${error.code}]`, help: helpFor(error) };
  }
  const user = describeUserError(error);
  if (user !== undefined) {
    return {
      exitCode: EXIT.failed,
      code: "user_code",
      message: `an error outside of a node call ended the run: ${user}`,
      help: helpAwait(),
    };
  }
  if (!(error instanceof Error) || (currentStage().name !== "idle" && isThrownElsewhere(error))) {
    const what = error instanceof Error ? messageOf(error) : describeThrown(error);
    return {
      exitCode: EXIT.failed,
      code: "user_code",
      message: `an error outside of a node call ended the run: ${what}`,
      help: helpAwait(),
    };
  }
  const { message } = error;
  if ((error as NodeJS.ErrnoException).syscall === "uv_cwd") {
    const help = "start it again in a directory that exists";
    return {
      exitCode: EXIT.failed,
      code: "no_directory",
      message: "the working directory was deleted meanwhile",
      help,
    };
  }
  if ("code" in error && error.code === MISSING_PART) {
    return { exitCode: EXIT.failed, code: "replaced", message, help: "start the command again" };
  }
  // V8's limit of the length of a string, 512 MiB: JSON of a value of the run, or of the whole document.
  if (error instanceof RangeError && message === "Invalid string length") {
    return {
      exitCode: EXIT.failed,
      code: "too_large",
      message: "a value is too large to be written as JSON",
      help: "store large data in files, and pass their names between nodes",
    };
  }
  const replaced = replacedBuiltin();
  if (replaced !== undefined) {
    return {
      exitCode: EXIT.failed,
      code: "user_code",
      message: `user code has replaced or frozen \`${replaced}\`, and the run cannot continue: ${message}`,
      help: "restore the built-in object before the node returns",
    };
  }
  return {
    exitCode: EXIT.bug,
    code: "bug",
    message: `this is a bug in ngc: ${messageOf(error)}`,
    help: "NGRAPH_DEBUG=1 shows where it happened; please report it with the file and the command",
  };
}
