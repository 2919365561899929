import { CommanderError } from "commander";
import { NgraphError } from "../runtime/interface/errors.ts";
import { CommandError } from "./process/command-error.ts";
import { endProcess, hasEnded } from "./process/end-process.ts";
import { EXIT, type ExitCode } from "./process/exit-codes.ts";
import { handleSignals } from "./process/interruption.ts";
import { stopLiveBlocks } from "./output/live-block.ts";
import { writeDocument, writeTo } from "./output/output.ts";
import { printableText } from "./output/printable-text.ts";
import { createProgram } from "./program.ts";
import { currentStage, runUnderWay, type Stage } from "./process/run-under-way.ts";
import { describeThrown, describeUserError } from "./process/user-error.ts";

/** Errors of the runtime that say the command was wrong, not the run. */
const WRONG_USAGE: ReadonlySet<string> = new Set([
  "NG_BAD_INPUT",
  "NG_MISSING_FUNCTION",
  "NG_UNKNOWN_THREAD",
  "NG_UNKNOWN_CHECKPOINT",
  "NG_NOT_PAUSED",
  "NG_BAD_ANSWER",
  "NG_NO_STORE",
]);

/** What to do at the command line, where the error of the runtime can only speak of code. */
const HELP: ReadonlyMap<string, string> = new Map([
  [
    "NG_MISSING_FUNCTION",
    "`llm` needs a model server (OPENAI_API_KEY or OPENAI_BASE_URL, and NGRAPH_MODEL); --builtins FILE supplies any node",
  ],
  ["NG_EFFECT_DENIED", "name the effect with --allow, or leave --allow out"],
  ["NG_DRIFT", "go on with the graph as it was, or start anew: ngc run FILE --thread THREAD --abandon"],
  ["NG_THREAD_BUSY", "resume the thread, or start anew with --abandon"],
]);

/** Runs one command line and ends the process with its exit code. */
export async function main(args: readonly string[]): Promise<void> {
  let exitCode: ExitCode = EXIT.ok;
  const json = args.includes("--json");
  const fail = (error: unknown): void => {
    if (currentStage().name !== "over") endProcess(report(error, json));
    // The run has its result, and keeps it.
    say(`warning: after the run's end: ${describeUserError(error) ?? messageOf(error)}`);
  };
  noticeEarlyEnds(json);
  handleSignals(() => endProcess(report(interrupted(), json)));
  process.on("uncaughtException", fail);
  process.on("unhandledRejection", fail);
  const program = createProgram((code) => (exitCode = code));
  try {
    await program.parseAsync(args, { from: "user" });
  } catch (error) {
    exitCode = report(error, json);
  }
  await flushed(process.stdout);
  await flushed(process.stderr);
  // User code may have left timers and connections behind: the command is over nevertheless.
  endProcess(exitCode);
}

/** A process that ends before its command has is a failure, whatever its exit code says. */
function noticeEarlyEnds(json: boolean): void {
  process.once("beforeExit", () => {
    const who = currentStage().name === "loading" ? "an imported module" : "a node";
    const message = `${who} waits for something that never happens: nothing is left that could wake it`;
    endProcess(report(endedEarly(message), json));
  });
  process.once("exit", (code) => {
    if (hasEnded()) return;
    const call = `ended the process (\`process.exit(${code})\`)`;
    process.exitCode = report(endedEarly(earlyEnds[currentStage().name](call)), json);
  });
}

const earlyEnds: Readonly<Record<Stage["name"], (call: string) => string>> = {
  idle: (call) => `user code ${call}`,
  loading: (call) => `an imported module ${call} while it was loaded`,
  running: (call) => `a node ${call}: its result is lost${wayOn() === undefined ? "" : ", the thread can be resumed"}`,
  over: (call) => `user code ${call} after the run's end, before its result was told`,
};

function endedEarly(message: string): CommandError {
  return new CommandError(message, { exitCode: EXIT.failed, code: "user_code", help: wayOn() });
}

function interrupted(): CommandError {
  return new CommandError("interrupted", { exitCode: EXIT.interrupted, code: "interrupted", help: wayOn() });
}

function wayOn(): string | undefined {
  const run = runUnderWay();
  return run?.command === undefined ? undefined : `go on with: ${run.command}`;
}

function flushed(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    if (stream.destroyed || !stream.writable) resolve();
    else writeTo(stream, "", resolve);
  });
}

/** Says what went wrong; gives the exit code. */
function report(error: unknown, json: boolean): ExitCode {
  // Commander has printed its message.
  if (error instanceof CommanderError && error.exitCode === 0) return EXIT.ok;
  stopLiveBlocks();
  const { exitCode, code, message, help } = explain(error);
  const isPrinted = error instanceof CommanderError;
  if (!isPrinted) say(`error: ${message}`);
  if (!isPrinted && help !== undefined) say(`  = help: ${help}`);
  if (json) {
    const run = runUnderWay();
    const thread = run?.thread === undefined ? {} : { thread: run.thread };
    writeDocument({ version: 1, ok: false, ...thread, error: { code, message, help: help ?? null } });
  }
  if (process.env["NGRAPH_DEBUG"] === "1" && error instanceof Error) say(`${error.stack}`);
  return exitCode;
}

function say(text: string): void {
  writeTo(process.stderr, `${printableText(text)}\n`);
}

const AWAIT = "await every promise that a node starts, so that its failure belongs to the node";

function helpAwait(): string {
  const way = wayOn();
  return way === undefined ? AWAIT : `${AWAIT}; ${way}`;
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
    // It has printed the help.
    const isBare = error.code === "commander.help";
    const message = isBare ? "no command is given" : error.message.replace(/^error: /, "");
    return { exitCode: EXIT.usage, code: "usage", message, help: isBare ? "ngc --help lists them" : undefined };
  }
  if (error instanceof NgraphError) {
    const isInterrupted = error.code === "NG_CANCELLED";
    const exitCode = isInterrupted ? EXIT.interrupted : WRONG_USAGE.has(error.code) ? EXIT.usage : EXIT.failed;
    return { exitCode, code: error.code, message: `${error.message} [${error.code}]`, help: HELP.get(error.code) };
  }
  const user = describeUserError(error);
  if (user !== undefined) {
    return {
      exitCode: EXIT.failed,
      code: "user_code",
      message: `an error outside of any node's own work ended the run: ${user}`,
      help: helpAwait(),
    };
  }
  if (!(error instanceof Error)) {
    return {
      exitCode: EXIT.failed,
      code: "user_code",
      message: `an error outside of any node's own work ended the run: ${describeThrown(error)}`,
      help: helpAwait(),
    };
  }
  const { message } = error;
  return {
    exitCode: EXIT.bug,
    code: "bug",
    message: `this is a bug in ngc: ${message}`,
    help: "NGRAPH_DEBUG=1 shows where it happened; please report it with the file and the command",
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : describeThrown(error);
}
