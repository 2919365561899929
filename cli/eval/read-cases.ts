import type { Json, JsonObject } from "../../runtime/value/json.ts";
import { sha256 } from "../../runtime/table/sha256.ts";
import { CommandError } from "../process/command-error.ts";
import { readStdin } from "../process/read-stdin.ts";
import { readSource } from "../sources/source-files.ts";
import { printable } from "../../diagnostics/render/index.ts";

/** One case of an evaluation: a run of the graph. */
export interface EvalCase {
  /** Of the file, from 1. */
  readonly line: number;
  /** Given in the file, else the number of the line. */
  readonly id: string;
  readonly input: JsonObject;
  /** What a score compares with; `null` if the case does not say. */
  readonly expected: Json;
  /** Answers for the nodes that pause, by node. */
  readonly answers: Readonly<Record<string, Json>>;
  readonly config: JsonObject | undefined;
}

/** Maximum number of cases of one evaluation. */
const MOST_CASES = 100_000;

const FIELDS: ReadonlySet<string> = new Set(["id", "input", "expected", "answers", "config"]);

/** Reads cases: one JSON object a line. `-` is standard input. @throws CommandError for a line that is no case */
export async function readCases(path: string): Promise<readonly EvalCase[]> {
  const name = path === "-" ? "standard input" : path;
  const text = path === "-" ? await readStdin() : readSource(path);
  const cases: EvalCase[] = [];
  const lines = new Map<string, number>();
  for (const [at, line] of text.split(/\r\n|\r|\n/).entries()) {
    if (line.trim() === "") continue;
    const found = readCase(line, at + 1, name);
    const first = lines.get(found.id);
    if (first !== undefined) {
      throw new CommandError(`${name}, line ${at + 1}: the id \`${printable(found.id)}\` is that of line ${first}`);
    }
    lines.set(found.id, at + 1);
    cases.push(found);
    if (cases.length > MOST_CASES) throw new CommandError(`${name} has more than ${MOST_CASES} cases`);
  }
  if (cases.length === 0) {
    throw new CommandError(`${name} has no case`, {
      help: 'a case is a line: {"input": {"question": "…"}, "expected": "…"}',
    });
  }
  return cases;
}

function readCase(line: string, number: number, name: string): EvalCase {
  const bad = (message: string): CommandError =>
    new CommandError(`${name}, line ${number}: ${message}`, {
      help: 'a case is a line: {"id": "one", "input": {"question": "…"}, "expected": "…"}',
    });
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw bad("this is no JSON");
  }
  if (!isRecord(value)) throw bad("a case is an object");
  const unknown = Object.keys(value).find((key) => !FIELDS.has(key));
  if (unknown !== undefined) {
    throw bad(`a case has no field \`${printable(unknown)}\`, but ${[...FIELDS].join(", ")}`);
  }
  const { id = String(number), input = {}, expected = null, answers = {}, config } = value;
  if (typeof id !== "string" && typeof id !== "number") throw bad("`id` is a text or a number");
  if (!isRecord(input)) throw bad("`input` is an object with the inputs of the graph");
  if (!isRecord(answers)) throw bad("`answers` is an object: the answer for each node that pauses");
  if (config !== undefined && !isRecord(config)) throw bad("`config` is an object");
  return { line: number, id: String(id), input, expected, answers, config };
}

/** What the results of all cases depend on. */
export interface EvalWork {
  /** The digest of the graph. */
  readonly graph: string;
  /** The expression, or the digest of the graph that scores. */
  readonly score: string;
  /** Limits and other options of the runs. */
  readonly options: object;
}

/** Equal for equal work: a result with this key need not be computed again. */
export function keyOf({ input, expected, answers, config }: EvalCase, work: EvalWork): string {
  return sha256(JSON.stringify([work.graph, work.score, work.options, input, expected, answers, config ?? null]));
}

function isRecord(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
