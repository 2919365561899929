import { appendFileSync } from "node:fs";
import type { CaseResult } from "../eval/run-cases.ts";
import { refuseSource, writeAtomically } from "../output/write-atomically.ts";
import { printable } from "../../diagnostics/render/index.ts";
import { CommandError } from "../process/command-error.ts";
import { EXIT } from "../process/exit-codes.ts";
import { withInterruption } from "../process/interruption.ts";
import { addLimitOptions, type ExecutionOptions } from "../run/execution-options.ts";
import { eventLines } from "../run/progress.ts";
import { parseAmount, parseCount, parseName } from "../run/parse-values.ts";
import { loadGraph } from "../sources/load-graph.ts";
import { defineCommand } from "../start/define-command.ts";
import { withStore } from "../threads/open-store.ts";

interface EvalOptions extends Omit<ExecutionOptions, "maxParallel"> {
  readonly cases?: string;
  readonly graph?: string;
  readonly score?: string;
  readonly scoreGraph?: string;
  readonly parallel?: number;
  readonly out?: string;
  readonly resume?: boolean;
  readonly baseline?: string;
  readonly minScore?: number;
}

export const evalCommand = defineCommand<EvalOptions>({
  usage: "eval <file>",
  summary: "run a graph over cases, and score what it returns",
  configure: (command) => {
    command
      .requiredOption(
        "--cases <file>",
        "the cases: JSON lines with `input`, `expected`, `answers`, `id`; - for standard input",
      )
      .option("--graph <name>", "the graph of the file, if it has several", parseName("--graph"))
      .option("--score <expression>", "a number or a bool, over the outputs, `expected`, `input` and `status`")
      .option("--score-graph <name>", "a graph of the file that scores: its output `score`", parseName("--score-graph"))
      .option("--parallel <n>", "runs at the same time (default 4)", parseCount("--parallel", 1))
      .option("--out <file>", "the file of results, JSON lines (default: the name of the cases with `.results.jsonl`)")
      .option("--resume", "keep the results of the file that are still right, and run the other cases")
      .option("--baseline <file>", "compare with the results of an earlier evaluation; exit 1 if the mean is lower")
      .option("--min-score <n>", "exit 1 if the mean is lower", parseAmount("--min-score"));
    addLimitOptions(command, "memory");
  },
  examples: [
    "ngc eval support.ngraph --cases cases.jsonl",
    `ngc eval support.ngraph --cases cases.jsonl --score 'reply == expected'`,
    "ngc eval support.ngraph --cases cases.jsonl --score-graph judge --baseline before.jsonl --min-score 0.9",
    "ngc eval support.ngraph --cases cases.jsonl --resume",
  ],
  run: async ([file = ""], options, output) => {
    const { score, scoreGraph, cases: casesPath = "" } = options;
    if (score !== undefined && scoreGraph !== undefined) {
      throw new CommandError("--score and --score-graph exclude each other");
    }
    const table = await loadGraph(file, options.graph, output);
    if (table === undefined) return EXIT.invalid;
    const judge = scoreGraph === undefined ? undefined : await loadGraph(file, scoreGraph, output);
    if (scoreGraph !== undefined && judge === undefined) return EXIT.invalid;
    const { keyOf, readCases } = await import("../eval/read-cases.ts");
    const { compareOutputs, scoreByExpression, scoreByGraph } = await import("../eval/score.ts");
    const { inParallel, runCase } = await import("../eval/run-cases.ts");
    const { compareWith, comparisonText, readResults, resultTable, summarise, summaryText } =
      await import("../eval/results.ts");
    const { openRunSession } = await import("../run/run-session.ts");
    const { createEngine } = await import("../../runtime/index.ts");

    const { checkCases } = await import("../eval/check-cases.ts");
    const cases = await readCases(casesPath);
    checkCases(cases, table, casesPath === "-" ? "standard input" : casesPath, {
      comparesOutputs: score === undefined && judge === undefined,
    });
    const baseline = options.baseline === undefined ? undefined : readResults(options.baseline, { mustExist: true });
    const out =
      options.out ?? (casesPath === "-" ? "results.jsonl" : casesPath.replace(/(?:\.jsonl?)?$/, ".results.jsonl"));
    for (const source of casesPath === "-" ? [file] : [casesPath, file]) refuseSource(out, source, "--out");
    const { maxSteps, maxTokens, maxCost, allow, builtins } = options;
    const context = {
      graph: table.digest,
      score: score ?? (judge === undefined ? "" : judge.digest),
      options: { maxSteps, maxTokens, maxCost, allow, builtins },
    };
    const byExpression = score === undefined ? undefined : scoreByExpression(score, table);
    const work = cases.map((each) => ({ each, key: keyOf(each, context) }));
    const earlier = options.resume === true ? readResults(out, { mustExist: false }) : [];
    const kept = new Map(earlier.map((result) => [`${result.id}\n${result.key}`, result]));
    const found = new Map(
      work.flatMap(({ each, key }) => {
        const result = kept.get(`${each.id}\n${key}`);
        return result === undefined ? [] : [[each.id, result] as const];
      }),
    );
    const open = work.filter(({ each }) => !found.has(each.id));
    return withStore(options.store ?? "memory", { mustExist: false }, async (store) => {
      const target = { table, file, store, options, flags: "" };
      const session = await openRunSession(target, eventLines(), output);
      const judging =
        judge === undefined ? undefined : await openRunSession({ ...target, table: judge }, eventLines(), output);
      const scoring =
        byExpression ??
        (judge === undefined || judging === undefined
          ? compareOutputs(table)
          : scoreByGraph(judge, table, judging.engineOptions));
      const engine = createEngine(table, session.engineOptions);
      // After all refusals: they leave the results of an earlier evaluation as they are.
      writeAtomically(out, [...found.values()].map((result) => `${JSON.stringify(result)}\n`).join(""));
      if (found.size > 0) output.note(`${found.size} of ${cases.length} results kept`);
      const { metadata: _, ...limits } = session.runOptions;
      const isAborted = await session.run(() =>
        withInterruption(async (signal) => {
          session.announce(null, false);
          const running = { engine, options: { ...limits, signal }, score: scoring, redact: session.redact };
          await inParallel(open, options.parallel ?? 4, signal, async ({ each, key }) => {
            const result = await runCase(each, key, running);
            if (signal.aborted) return;
            const line = session.redact(JSON.stringify(result));
            found.set(each.id, JSON.parse(line) as CaseResult);
            appendFileSync(out, `${line}\n`);
            output.note(`${found.size}/${cases.length} ${printable(each.id)}: ${result.score ?? "no score"}`);
          });
          return signal.aborted;
        }),
      );
      await judging?.close();
      await session.close();
      if (isAborted) {
        output.note(`interrupted: ${found.size} of ${cases.length} results are in ${out}; continue with --resume`);
        return EXIT.interrupted;
      }
      const results = cases.flatMap(({ id }) => found.get(id) ?? []);
      const summary = summarise(results);
      const comparison = baseline === undefined ? undefined : compareWith(results, baseline);
      output.document({
        version: 1,
        graph: table.name,
        results: out,
        summary,
        ...(comparison === undefined ? {} : { baseline: comparison }),
        cases: results,
      });
      output.result(session.redact(resultTable(results)));
      output.result(summaryText(summary, comparison));
      const against = comparison === undefined ? undefined : comparisonText(comparison);
      if (against !== undefined) output.result(against);
      for (const { id, before, now } of comparison?.worse.slice(0, 20) ?? [])
        output.result(`worse: ${printable(id)}, ${before} → ${now}`);
      const isLow = options.minScore !== undefined && (summary.mean ?? -Infinity) < options.minScore;
      if (isLow) output.problem(`the mean is below ${options.minScore}`);
      const isWorse = comparison?.change !== undefined && comparison.change !== null && comparison.change < 0;
      if (isWorse) output.problem("the mean is lower than that of the baseline");
      return isLow || isWorse ? EXIT.failed : EXIT.ok;
    });
  },
});
