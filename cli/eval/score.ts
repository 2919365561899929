import { isDeepStrictEqual } from "node:util";
import { compile } from "../../compiler/compile.ts";
import { typeToText } from "../../compiler/types/type-text.ts";
import { hasErrors } from "../../diagnostics/diagnostic.ts";
import { createEngine } from "../../runtime/index.ts";
import type { EngineOptions } from "../../runtime/interface/engine-options.ts";
import type { Table } from "../../runtime/table/table.ts";
import type { Json, JsonObject } from "../../runtime/value/json.ts";
import { CommandError } from "../process/command-error.ts";
import { EXIT } from "../process/exit-codes.ts";

/** What a score sees of a run. */
export interface ScoredRun {
  readonly output: JsonObject;
  readonly input: JsonObject;
  readonly expected: Json;
  readonly status: string;
}

/** Scores a run. @throws an error whose message says why there is no score */
export type Score = (run: ScoredRun) => Promise<{ readonly score: number; readonly details: JsonObject }>;

const EXTRA = ["expected", "input", "status"] as const;

/** 1 if the outputs are what the case expects, else 0; without an expectation, 1 for a run that completed. */
export function compareOutputs(table: Table): Score {
  const outputs = table.channels.filter(({ role }) => role === "output").map(({ name }) => name);
  return async ({ output, expected, status }) => {
    if (status !== "completed") return { score: 0, details: {} };
    if (expected === null) return { score: 1, details: {} };
    const isByName =
      typeof expected === "object" &&
      !Array.isArray(expected) &&
      Object.keys(expected).every((name) => outputs.includes(name));
    const [only] = outputs;
    const isEqual = isByName
      ? Object.entries(expected).every(([name, value]) => isDeepStrictEqual(output[name] ?? null, value))
      : outputs.length === 1 && isDeepStrictEqual(output[only ?? ""] ?? null, expected);
    return { score: isEqual ? 1 : 0, details: {} };
  };
}

/**
 * A score by an expression of the language over the outputs, `expected`, `input` and `status`.
 *
 * @throws CommandError for an expression that does not compile
 */
export function scoreByExpression(expression: string, table: Table): Score {
  const taken = table.channels.flatMap(({ name, role }) =>
    role === "output" && EXTRA.some((each) => each === name) ? [name] : [],
  );
  const [clash] = taken;
  if (clash !== undefined) {
    throw new CommandError(`--score cannot be used: the output \`${clash}\` hides the \`${clash}\` of the case`, {
      help: "score with a graph: --score-graph NAME",
    });
  }
  const types = table.types.map(({ name, type }) => `type ${name} = ${typeToText(type)}\n`).join("");
  const outputs = table.channels.flatMap(({ name, role, type }) =>
    role === "output" ? [`  config ${name}: ${typeToText(type)} | null`] : [],
  );
  const extra = ["  config expected: json", "  config input: json", "  config status: string"];
  const head = `${types}graph score {\n${[...outputs, ...extra].join("\n")}\n  output score: json\n  node rate = `;
  const result = compile(`${head}${expression}\n  into score\n  start -> rate\n}\n`, { path: "--score" });
  const scored = result.table;
  if (scored === undefined || hasErrors(result.diagnostics)) {
    const first = result.diagnostics.find(({ severity }) => severity === "error");
    const names = [...outputs.map((line) => /\w+(?=:)/.exec(line)?.[0] ?? ""), ...EXTRA];
    throw new CommandError(`--score: ${first?.message ?? "this is no expression"}`, {
      exitCode: EXIT.invalid,
      help: first?.help ?? `it reads ${names.map((name) => `\`${name}\``).join(", ")}: --score 'answer == expected'`,
    });
  }
  const engine = createEngine(scored);
  return async ({ output, input, expected, status }) => {
    const run = await engine.run({}, { config: { ...output, input, expected, status } });
    if (run.error !== null) throw new Error(run.error.message);
    return { score: toNumber(run.output["score"] ?? null), details: {} };
  };
}

/**
 * A score by a graph, such as one that asks a model. Its inputs are outputs of the graph, `expected`, `input` or `status`; its output
 * `score` is a number or a bool, and its other outputs are details of the result.
 */
export function scoreByGraph(judge: Table, table: Table, options: EngineOptions): Score {
  const outputs = table.channels.filter(({ role }) => role === "output").map(({ name }) => name);
  const known = [...outputs, ...EXTRA];
  const inputs = judge.channels.filter(({ role }) => role === "input");
  const strange = inputs.find(({ name, initial }) => initial === undefined && !known.includes(name));
  if (strange !== undefined) {
    throw new CommandError(`the graph \`${judge.name}\` needs the input \`${strange.name}\`, which no run gives`, {
      help: `a run gives ${known.map((name) => `\`${name}\``).join(", ")}`,
    });
  }
  if (!judge.channels.some(({ name, role }) => role === "output" && name === "score")) {
    throw new CommandError(`the graph \`${judge.name}\` has no output \`score\``, {
      help: "declare `output score: float`",
    });
  }
  const engine = createEngine(judge, options);
  return async ({ output, input, expected, status }) => {
    const values: JsonObject = { ...output, input, expected, status };
    const given = Object.fromEntries(
      inputs.flatMap(({ name }) => (known.includes(name) ? [[name, values[name] ?? null]] : [])),
    );
    const run = await engine.run(given);
    if (run.error !== null) throw new Error(run.error.message);
    if (run.status !== "completed") throw new Error(`the score ended with the status ${run.status}`);
    const { score = null, ...details } = run.output;
    return { score: toNumber(score), details };
  };
}

function toNumber(value: Json): number {
  if (value === true) return 1;
  if (value === false) return 0;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  throw new Error(`a score is a number or a bool, not ${JSON.stringify(value)?.slice(0, 100)}`);
}
