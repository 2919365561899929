import { printable } from "../../diagnostics/render/index.ts";
import { formatTime } from "../output/format-values.ts";
import type { ExpectedType } from "../../runtime/interface/context.ts";
import type { PauseItem } from "../../runtime/interface/checkpoint.ts";
import { printValueType } from "../../runtime/value/print-value-type.ts";
import type { RunResult } from "../../runtime/interface/engine-options.ts";
import { resultDocument } from "../../runtime/run/result-document.ts";
import { describeError } from "../../runtime/event/run-events.ts";
import { NgraphError } from "../../runtime/interface/errors.ts";
import { ExpressionError } from "../../runtime/expression/expression-error.ts";
import type { Json } from "../../runtime/value/json.ts";
import { isGate } from "../../runtime/thread/answers.ts";
import { EXIT, type ExitCode } from "../process/exit-codes.ts";
import { quoteArgument } from "../output/quote-argument.ts";
import type { Output } from "../output/output.ts";
import { printableText } from "../output/printable-text.ts";
import { formatRecord } from "../output/format-values.ts";
import { parseValue } from "../threads/parse-answers.ts";
import { userPlace } from "../process/user-error.ts";

/** The data with which a later command finds the run. */
export interface RunPlace {
  /** `--store …` and `--file …` where they are needed, each with a leading space. */
  readonly flags: string;
  /** For a thread on a host, which wakes it: the flags with which `ngc signal` finds it. */
  readonly signalFlags?: string;
  readonly isMemory: boolean;
  /** Replaces the values of secrets in a text. */
  readonly redact?: (text: string) => string;
}

/** Prints a run's result (interface.md) and returns the exit code. */
export function reportResult(result: RunResult, place: RunPlace, output: Output): ExitCode {
  output.document(resultDocument(result, (error) => ({ at: placeOf(error) ?? null })));
  const { error, thread } = result;
  if (result.status === "paused") reportPauses(result, place, output);
  else {
    // If the run did not complete, only outputs that were written are printed.
    const written = Object.entries(result.output).filter(
      ([, value]) => result.status === "completed" || value !== null,
    );
    if (written.length > 0 && error === null) output.result(formatRecord(Object.fromEntries(written)));
  }

  if (error !== null) {
    output.problem(`${output.stderrStyles.error("error")}: ${printableText(error.message)} [${error.code}]`);
    for (const cause of deeperCauses(error, place.redact)) output.problem(`  caused by: ${printableText(cause)}`);
    const where = placeOf(error);
    if (where !== undefined) output.problem(`  at ${where}`);
  }
  const cleanup = result.finally;
  if (cleanup !== undefined && cleanup.status !== "completed") {
    const why = cleanup.error === null ? "" : `: ${printableText(cleanup.error.message)} [${cleanup.error.code}]`;
    output.problem(
      `${output.stderrStyles.error("error")}: \`finally\` ended ${cleanup.status.replace("_", " ")}${why}`,
    );
  }
  for (const barrier of result.incompleteBarriers) {
    output.problem(
      `${output.stderrStyles.error("incomplete")}: the barrier in front of \`${barrier.target}\` still waits for ${barrier.missing.join(", ")}; arrived: ${barrier.arrived.join(", ")}`,
    );
  }
  if (result.status === "paused" && result.outcome !== undefined) {
    output.note(`the run has ended (${result.outcome.status}), and its \`finally\` part waits`);
  }
  for (const { task, call, error: reason } of result.rollback?.open ?? []) {
    const why = reason === null ? "not run yet" : printableText(reason);
    output.problem(`${output.stderrStyles.error("open")}: ${printable(call)} of ${printable(task)}: ${why}`);
  }
  const steps = `${result.steps.length} step${result.steps.length === 1 ? "" : "s"}`;
  output.note(`${statusText(result, output)} after ${steps}${thread === null ? "" : ` · thread ${printable(thread)}`}`);
  if (!place.isMemory && thread !== null && RESUMABLE.has(result.status)) {
    const flag = flagOfLimit(error);
    const more = flag === undefined ? "" : ` ${flag} N`;
    if (result.rollback !== undefined)
      output.note(`try again with: ngc rollback ${quoteArgument(thread)}${place.flags}`);
    else output.note(`resume with: ngc resume ${quoteArgument(thread)}${place.flags}${more}`);
  }
  const exitCode = exitCodeOf(result.status);
  const hasFailed = cleanup !== undefined && cleanup.status !== "completed";
  return exitCode === EXIT.ok && hasFailed ? EXIT.failed : exitCode;
}

/** The flag that raises the limit that the graph itself or a called graph has reached. */
function flagOfLimit(error: unknown): string | undefined {
  for (let cause = error; cause instanceof NgraphError; cause = cause.cause) {
    const flag = FLAGS.get(cause.code);
    if (flag !== undefined) return flag;
  }
  return undefined;
}

const FLAGS: ReadonlyMap<string, string> = new Map([
  ["NG_STEP_LIMIT", "--max-steps"],
  ["NG_TOKEN_LIMIT", "--max-tokens"],
  ["NG_COST_LIMIT", "--max-cost"],
]);

const RESUMABLE: ReadonlySet<string> = new Set(["failed", "cancelled", "limit"]);

export function exitCodeOf(status: RunResult["status"]): ExitCode {
  switch (status) {
    case "completed":
      return EXIT.ok;
    case "paused":
      return EXIT.paused;
    case "cancelled":
      return EXIT.interrupted;
    case "incomplete":
    case "failed":
    case "limit":
    case "rolled_back":
      return EXIT.failed;
  }
}

function statusText(result: RunResult, output: Output): string {
  const { stderrStyles: styles } = output;
  const text = result.limit === undefined ? result.status : `${result.limit.replace(/s$/, "")} limit`;
  return result.status === "completed" || result.status === "paused" ? styles.info(text) : styles.error(text);
}

/** Prints the items that wait for an answer, and the command that answers them. */
export function reportPauses(result: Pick<RunResult, "pauses" | "thread">, place: RunPlace, output: Output): void {
  const { pauses, thread } = result;
  for (const pause of pauses) output.result(describePause(pause));
  if (place.isMemory) {
    output.result("the run was stored in memory only, so it cannot be answered; run it with --store sqlite:PATH");
    return;
  }
  const command = `ngc resume ${quoteArgument(thread ?? "")}${place.flags}`;
  const signal = pauses.find(({ kind }) => kind === "signal");
  if (signal !== undefined) {
    const name = typeof signal.payload === "string" ? signal.payload : "NAME";
    output.result(
      `send it with: ngc signal ${quoteArgument(thread ?? "")} ${quoteArgument(name)} VALUE${place.signalFlags ?? place.flags}`,
    );
  }
  if (pauses.every(({ kind }) => kind === "signal" || kind === "timer")) {
    const isWoken = place.signalFlags !== undefined;
    const hasDue = pauses.some(({ due }) => due !== undefined);
    const when = signal === undefined ? "when it is due" : hasDue ? "then, or when it is due" : "then";
    output.result(isWoken ? `the host continues the run ${when}` : `${when}, continue with: ngc resume --due`);
    return;
  }
  const [first] = pauses;
  if (pauses.length === 1 && first !== undefined && first.kind === "interrupt") {
    const [choice, ...others] = readPayload(first.payload).choices;
    const or = others.length === 0 ? "" : `   (or ${others.map(answerArgument).join(", ")})`;
    output.result(`answer with: ${command} --answer ${choice === undefined ? "VALUE" : answerArgument(choice)}${or}`);
    return;
  }
  // Without answers, a resume releases a gate only if nothing else waits.
  const answers = pauses
    .filter((pause) => pause.kind === "interrupt" || (isGate(pause) && pauses.length > 1))
    .map((pause) => ` --answer ${quoteArgument(`${pause.id}=${exampleAnswer(pause)}`)}`);
  output.result(`${answers.length === 0 ? "resume" : "answer"} with: ${command}${answers.join("")}`);
}

/** An answer that the item takes: a gate takes `true` alone. */
function exampleAnswer(pause: PauseItem): string {
  if (isGate(pause)) return "true";
  const [choice] = readPayload(pause.payload).choices;
  return choice === undefined ? "VALUE" : answerText(choice);
}

/** The text of an answer that `parseAnswers` reads back: a text that looks like JSON is put in quotes. */
function answerText(text: string): string {
  return typeof parseValue(text) === "string" ? text : JSON.stringify(text);
}

function answerArgument(text: string): string {
  return quoteArgument(answerText(text));
}

/** One waiting item: its question and the possible answers. */
export function describePause(pause: PauseItem): string {
  return printableText(pauseText(pause));
}

function pauseText(pause: PauseItem): string {
  const node = [...pause.namespace, pause.node].join(" › ");
  const until = pause.due === undefined ? "" : ` until ${formatTime(pause.due)}`;
  if (pause.kind === "timer") return `${node} sleeps${until}  (${pause.id})`;
  if (pause.kind === "signal")
    return `${node} waits for the signal ${JSON.stringify(pause.payload)}${until}  (${pause.id})`;
  if (pause.kind !== "interrupt") return `paused ${pause.kind} ${node}  (${pause.id})`;
  const { question, choices, rest } = readPayload(pause.payload);
  const lines = [`${node} waits for an answer${until}  (${pause.id})`];
  for (const line of question.split("\n")) lines.push(`  ${line}`.trimEnd());
  if (rest !== null) lines.push(`  ${JSON.stringify(rest)}`);
  if (choices.length > 0) lines.push(`  one of: ${choices.join(" | ")}`);
  else if (pause.expects !== undefined) lines.push(`  of the type: ${shownType(pause.expects)}`);
  return lines.join("\n");
}

/** A type by its definition: a person who answers need not know the names of the types. */
function shownType({ type, types }: ExpectedType): string {
  const named = type.kind === "ref" ? types.find(({ name }) => name === type.name) : undefined;
  return printValueType(named?.type ?? type);
}

/**
 * The payload of `ask` is `{ question, choices?, schema?, details? }`; the payload of an `interrupt` in node code is any value. `rest` is
 * what a person also has to know, such as the arguments of a call that needs an approval.
 */
export function readPayload(payload: Json): { question: string; choices: readonly string[]; rest: Json } {
  if (typeof payload === "string") return { question: payload, choices: [], rest: null };
  if (typeof payload === "object" && payload !== null && !Array.isArray(payload)) {
    const { question, choices, schema: _, details, ...others } = payload as { readonly [key: string]: Json };
    if (typeof question === "string") {
      return {
        question,
        choices: Array.isArray(choices)
          ? choices.map((choice) => (typeof choice === "string" ? choice : JSON.stringify(choice)))
          : [],
        rest:
          Object.keys(others).length === 0 ? (details ?? null) : { ...others, ...(details == null ? {} : { details }) },
      };
    }
  }
  return { question: payload === null ? "" : JSON.stringify(payload, null, 2), choices: [], rest: null };
}

/** Causes below the error that a failed node's message already shows. */
function deeperCauses(error: NgraphError, redact = (text: string) => text): string[] {
  const causes: string[] = [];
  let current: unknown = error.cause;
  while (current instanceof Error && causes.length < 5) {
    const below: unknown = current instanceof AggregateError ? current.errors[0] : current.cause;
    if (below === undefined) break;
    causes.push(describeError(below, redact));
    current = below;
  }
  // An error that wraps another often repeats its message.
  return causes.filter((text) => !error.message.includes(text));
}

/** The place in the user's code or graph where a failure began: the place of the innermost cause that has one. */
function placeOf(error: Error): string | undefined {
  let place: string | undefined;
  let current: unknown = error;
  for (let depth = 0; current instanceof Error && depth < 10; depth++) {
    const own = current instanceof ExpressionError ? current.place : undefined;
    place = userPlace(current) ?? own ?? place;
    current = current.cause;
  }
  return place;
}
