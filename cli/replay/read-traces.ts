import type { TraceStep } from "../../diagnostics/diagnostic.ts";
import { CommandError } from "../process/command-error.ts";
import { readSource } from "../sources/source-files.ts";

/** A trace of a file, with the finding that it belongs to. */
export interface GivenTrace {
  readonly trace: readonly TraceStep[];
  readonly code?: string;
  readonly message?: string;
  /** 1-based line of the finding. */
  readonly line?: number;
  /** How the run of the trace ends, in a few words. */
  readonly end?: string;
}

/** Maximum number of steps of a trace, far above the length of a trace that a check reports. */
const MAX_STEPS = 10_000;

/**
 * The traces of a file. The file is a document of `ngc check --json`, one of its diagnostics, or a trace. Of a document, the traces of
 * errors and warnings are used, or those of remarks if there are no others.
 *
 * @throws CommandError when there is none, or it is malformed
 */
export function readTraces(path: string): readonly GivenTrace[] {
  const value = parseJson(path);
  if (Array.isArray(value)) return [{ trace: readSteps(value, path) }];
  if (!isRecord(value)) throw notATrace(path);
  if ("trace" in value) {
    const found = readDiagnostic(value, path);
    if (found === undefined) throw withoutTrace(path);
    return [found];
  }
  const { diagnostics } = value;
  if (!Array.isArray(diagnostics)) throw notATrace(path);
  const all = diagnostics.flatMap((item: unknown) => {
    const found = isRecord(item) ? readDiagnostic(item, path) : undefined;
    return found === undefined ? [] : [{ found, isRemark: isRecord(item) && item["severity"] === "info" }];
  });
  const serious = all.filter(({ isRemark }) => !isRemark);
  const chosen = (serious.length > 0 ? serious : all).map(({ found }) => found);
  if (chosen.length === 0) throw withoutTrace(path);
  return chosen;
}

function parseJson(path: string): unknown {
  try {
    return JSON.parse(readSource(path)) as unknown;
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(`${path} is not valid JSON: ${error instanceof Error ? error.message : String(error)}`, {
      help: "write one with `ngc check FILE --json > trace.json`",
      cause: error,
    });
  }
}

function readDiagnostic(value: Readonly<Record<string, unknown>>, path: string): GivenTrace | undefined {
  const { trace, code, message, range, traceEnd } = value;
  if (!Array.isArray(trace) || trace.length === 0 || beginsAtFinally(trace)) return undefined;
  const start = isRecord(range) ? range["start"] : undefined;
  const line = isRecord(start) ? start["line"] : undefined;
  return {
    trace: readSteps(trace, path),
    ...(typeof code === "string" ? { code } : {}),
    ...(typeof message === "string" ? { message } : {}),
    ...(typeof line === "number" ? { line } : {}),
    ...(typeof traceEnd === "string" ? { end: traceEnd } : {}),
  };
}

/** Such a trace begins where a run has ended in any way, and does not say how. */
function beginsAtFinally([first]: readonly unknown[]): boolean {
  return isRecord(first) && first["entry"] === "finally";
}

function readSteps(steps: readonly unknown[], path: string): TraceStep[] {
  if (steps.length === 0) throw withoutTrace(path);
  if (beginsAtFinally(steps))
    throw new CommandError(`the trace in ${path} begins at \`finally\``, { help: FROM_START });
  if (steps.length > MAX_STEPS) throw new CommandError(`the trace in ${path} has more than ${MAX_STEPS} steps`);
  return steps.map((step, index) => {
    if (!isRecord(step)) throw badStep(path, index, "is not an object");
    const { ran, chose = {} } = step;
    if (!Array.isArray(ran) || ran.length === 0 || !ran.every((name) => typeof name === "string")) {
      throw badStep(path, index, "has no list `ran` of node names");
    }
    if (!isRecord(chose) || !Object.values(chose).every((choice) => typeof choice === "string")) {
      throw badStep(path, index, "has a `chose` that is not an object with a text for each node");
    }
    return { step: index, ran, chose: chose as Record<string, string>, barriers: readBarriers(step["barriers"]) };
  });
}

/** The members that have signalled, by barrier. Only pictures read them: parts of another form are left out. */
function readBarriers(given: unknown): Readonly<Record<string, readonly string[]>> {
  const isNames = (value: unknown): value is string[] =>
    Array.isArray(value) && value.every((name) => typeof name === "string");
  return Object.fromEntries(
    Object.entries(isRecord(given) ? given : {}).flatMap(([id, arrived]) => (isNames(arrived) ? [[id, arrived]] : [])),
  );
}

function badStep(path: string, index: number, what: string): CommandError {
  return new CommandError(`step ${index} of the trace in ${path} ${what}`, { help: HELP });
}

function notATrace(path: string): CommandError {
  return new CommandError(`${path} contains no trace`, { help: HELP });
}

function withoutTrace(path: string): CommandError {
  return new CommandError(`${path} contains no finding with a trace`, { help: HELP });
}

const FROM_START = "only a trace that begins at `start` can be replayed";
const HELP = "use a document of `ngc check FILE --json`, one of its diagnostics, or the `trace` of one";

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
