import type { Engine, ExecuteOptions, RunResult } from "../../runtime/interface/engine-options.ts";
import type { Usage } from "../../runtime/interface/usage.ts";
import { NO_USAGE } from "../../runtime/run/total-usage.ts";
import type { Json, JsonObject } from "../../runtime/value/json.ts";
import type { EvalCase } from "./read-cases.ts";
import type { Score } from "./score.ts";

/** The result of one case: a line of the file of results. */
export interface CaseResult {
  readonly id: string;
  /** Equal for equal work, see `keyOf`. */
  readonly key: string;
  readonly status: string;
  /** `null` if the score could not be computed. */
  readonly score: number | null;
  readonly output: JsonObject;
  readonly expected: Json;
  readonly error: string | null;
  /** Milliseconds of the run, without its score. */
  readonly ms: number;
  readonly usage: Usage;
  /** Further outputs of a graph that scores. */
  readonly details?: JsonObject;
}

/** Maximum number of pauses that the answers of a case resolve, one after the other. */
const MOST_PAUSES = 100;

export interface CaseContext {
  readonly engine: Engine;
  readonly options: ExecuteOptions;
  readonly score: Score;
  readonly redact: (text: string) => string;
}

/** Runs one case, answers its pauses, and scores it. Never throws: an error is part of the result. */
export async function runCase(given: EvalCase, key: string, context: CaseContext): Promise<CaseResult> {
  const { redact, score } = context;
  const begin = performance.now();
  let run: RunResult | undefined;
  let error: string | null = null;
  try {
    run = await runAndAnswer(given, context);
    if (run.error !== null) error = run.error.message;
    else if (run.status === "paused") error = `no answer for ${run.pauses.map(({ node }) => node).join(", ")}`;
  } catch (thrown) {
    error = messageOf(thrown);
  }
  const ms = Math.round(performance.now() - begin);
  const status = run?.status ?? "failed";
  const output = run?.output ?? {};
  const common = { id: given.id, key, status, output, expected: given.expected, ms, usage: run?.usage ?? NO_USAGE };
  // A run that did not complete has nothing to score.
  if (status !== "completed") return { ...common, score: 0, error: error === null ? null : redact(error) };
  try {
    const scored = await score({ output, input: given.input, expected: given.expected, status });
    const details = Object.keys(scored.details).length === 0 ? {} : { details: scored.details };
    return { ...common, score: scored.score, error: null, ...details };
  } catch (thrown) {
    return { ...common, score: null, error: redact(`no score: ${messageOf(thrown)}`) };
  }
}

async function runAndAnswer(
  { input, config, answers }: EvalCase,
  { engine, options }: CaseContext,
): Promise<RunResult> {
  let run = await engine.run(input, { ...options, ...(config === undefined ? {} : { config }) });
  for (let pause = 0; run.status === "paused" && pause < MOST_PAUSES; pause++) {
    const given = run.pauses.flatMap(({ id, node }) =>
      Object.hasOwn(answers, node) ? [[id, answers[node] ?? null] as const] : [],
    );
    if (given.length === 0 || run.thread === null) break;
    run = await engine.resume(run.thread, { ...options, answers: Object.fromEntries(given) });
  }
  return run;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Runs work for all items, at most `parallel` at a time, until the signal is aborted. */
export async function inParallel<T>(
  items: readonly T[],
  parallel: number,
  signal: AbortSignal,
  work: (item: T) => Promise<void>,
): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < items.length && !signal.aborted) await work(items[next++] as T);
  };
  await Promise.all(Array.from({ length: Math.min(parallel, items.length) }, lane));
}
