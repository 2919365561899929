import { existsSync } from "node:fs";
import type { CaseResult } from "./run-cases.ts";
import { formatTable } from "../output/format-values.ts";
import { printable } from "../../diagnostics/render/index.ts";
import { CommandError } from "../process/command-error.ts";
import { readSource } from "../sources/source-files.ts";

/** The sums of an evaluation. */
export interface EvalSummary {
  readonly cases: number;
  /** Of the cases that have a score; `null` if none has. */
  readonly mean: number | null;
  readonly least: number | null;
  /** Cases whose run did not complete. */
  readonly failed: number;
  /** Cases without a score. */
  readonly unscored: number;
  readonly medianMs: number;
  readonly slowestMs: number;
  readonly tokens: number;
  readonly cost: number;
}

export function summarise(results: readonly CaseResult[]): EvalSummary {
  const scores = results.flatMap(({ score }) => (score === null ? [] : [score]));
  const times = results.map(({ ms }) => ms).sort((a, b) => a - b);
  return {
    cases: results.length,
    mean: scores.length === 0 ? null : rounded(scores.reduce((sum, score) => sum + score, 0) / scores.length),
    least: scores.length === 0 ? null : scores.reduce((least, score) => Math.min(least, score)),
    failed: results.filter(({ status }) => status !== "completed").length,
    unscored: results.length - scores.length,
    medianMs: times[Math.floor((times.length - 1) / 2)] ?? 0,
    slowestMs: times.at(-1) ?? 0,
    tokens: results.reduce((sum, { usage }) => sum + usage.inputTokens + usage.outputTokens, 0),
    cost: rounded(results.reduce((sum, { usage }) => sum + usage.cost, 0)),
  };
}

/** The difference to an earlier evaluation, of the cases that both have. */
export interface Comparison {
  readonly mean: number | null;
  /** New mean minus old mean, over the cases that both have. */
  readonly change: number | null;
  readonly worse: readonly { readonly id: string; readonly before: number; readonly now: number }[];
  readonly better: number;
  /** Of the cases that both have, then and now. */
  readonly medianMs: Change;
  readonly tokens: Change;
  readonly cost: Change;
}

export interface Change {
  readonly before: number;
  readonly now: number;
}

export function compareWith(results: readonly CaseResult[], baseline: readonly CaseResult[]): Comparison {
  const before = new Map(baseline.map((result) => [result.id, result]));
  const pairs = results.flatMap(({ id, score }) => {
    const old = before.get(id)?.score;
    return old === undefined || old === null || score === null ? [] : [{ id, before: old, now: score }];
  });
  const both = results.filter(({ id }) => before.has(id));
  const then = summarise(both.flatMap(({ id }) => before.get(id) ?? []));
  const now = summarise(both);
  const changeOf = (name: "medianMs" | "tokens" | "cost"): Change => ({ before: then[name], now: now[name] });
  const mean = (of: (pair: (typeof pairs)[number]) => number): number =>
    pairs.reduce((sum, pair) => sum + of(pair), 0) / pairs.length;
  return {
    mean: pairs.length === 0 ? null : rounded(mean((pair) => pair.before)),
    change: pairs.length === 0 ? null : rounded(mean((pair) => pair.now) - mean((pair) => pair.before)),
    worse: pairs.filter((pair) => pair.now < pair.before),
    better: pairs.filter((pair) => pair.now > pair.before).length,
    medianMs: changeOf("medianMs"),
    tokens: changeOf("tokens"),
    cost: changeOf("cost"),
  };
}

/** The results of a file. The last line may be cut: a process that ended was writing it. @throws CommandError */
export function readResults(path: string, { mustExist }: { readonly mustExist: boolean }): readonly CaseResult[] {
  if (!mustExist && !existsSync(path)) return [];
  const lines = readSource(path).split("\n");
  const results = new Map<string, CaseResult>();
  for (const [at, line] of lines.entries()) {
    if (line.trim() === "") continue;
    const result = parseResult(line);
    if (result !== undefined) results.set(result.id, result);
    else if (at < lines.length - 1) {
      throw new CommandError(`${path}, line ${at + 1}: this is no result of an evaluation`, {
        help: "results are written by `ngc eval`; leave out --resume to write the file anew",
      });
    }
  }
  return [...results.values()];
}

function parseResult(line: string): CaseResult | undefined {
  try {
    const value = JSON.parse(line) as Partial<CaseResult> | null;
    const isResult =
      typeof value?.id === "string" &&
      typeof value.key === "string" &&
      typeof value.status === "string" &&
      typeof value.ms === "number" &&
      (value.score === null || typeof value.score === "number") &&
      typeof value.usage?.cost === "number" &&
      typeof value.usage.inputTokens === "number" &&
      typeof value.usage.outputTokens === "number";
    return isResult ? (value as CaseResult) : undefined;
  } catch {
    return undefined;
  }
}

/** Maximum number of rows of the table: those with the lowest scores. */
const MOST_ROWS = 50;

/** The table of an evaluation: the worst cases first. */
export function resultTable(results: readonly CaseResult[]): string {
  const sorted = [...results].sort((a, b) => (a.score ?? -Infinity) - (b.score ?? -Infinity));
  const rows = sorted
    .slice(0, MOST_ROWS)
    .map(({ id, score, status, ms, usage, error }) => [
      printable(id),
      score === null ? "–" : String(rounded(score)),
      status,
      `${ms}ms`,
      usage.cost === 0 ? "" : String(rounded(usage.cost)),
      error === null ? "" : printable(error.split("\n", 1)[0] ?? "").slice(0, 80),
    ]);
  const rest = sorted.length - rows.length;
  return (
    formatTable(["case", "score", "status", "time", "cost", ""], rows) +
    (rest > 0 ? `\n… and ${rest} with higher scores` : "")
  );
}

export function summaryText(summary: EvalSummary, comparison: Comparison | undefined): string {
  const { cases, mean, failed, unscored, medianMs, tokens, cost } = summary;
  const change = comparison?.change ?? null;
  return [
    `${cases} ${cases === 1 ? "case" : "cases"}: mean ${mean ?? "–"}`,
    ...(change === null ? [] : [`${change < 0 ? "−" : "+"}${Math.abs(change)} against ${comparison?.mean}`]),
    ...(failed === 0 ? [] : [`${failed} failed`]),
    ...(unscored === 0 ? [] : [`${unscored} without a score`]),
    `median ${medianMs}ms`,
    ...(tokens === 0 ? [] : [`${tokens} tokens`]),
    ...(cost === 0 ? [] : [`cost ${cost}`]),
  ].join(", ");
}

/** Time and use against the baseline; `undefined` without a case that both have. */
export function comparisonText({ mean, medianMs, tokens, cost }: Comparison): string | undefined {
  if (mean === null) return undefined;
  const shown = (name: string, { before, now }: Change, unit = ""): string[] =>
    before === 0 && now === 0
      ? []
      : [
          `${name} ${before}${unit} → ${now}${unit}${before === 0 ? "" : ` (${now < before ? "−" : "+"}${Math.abs(Math.round((now / before - 1) * 100))} %)`}`,
        ];
  return `against the baseline: ${[...shown("median", medianMs, "ms"), ...shown("tokens", tokens), ...shown("cost", cost)].join(", ")}`;
}

/** Six digits: sums of floats have more. */
function rounded(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}
