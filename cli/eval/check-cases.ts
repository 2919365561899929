/** Whether cases fit the graph: a case that cannot run, or cannot score, is refused before anything runs. */
import type { ChannelSpec, Table } from "../../runtime/table/table.ts";
import { compileValidator } from "../../runtime/value/validate.ts";
import type { Mismatch } from "../../runtime/value/validate.ts";
import type { Json, JsonObject } from "../../runtime/value/json.ts";
import { printable } from "../../diagnostics/render/index.ts";
import { CommandError } from "../process/command-error.ts";
import type { EvalCase } from "./read-cases.ts";

/**
 * @param name of the file of the cases, for messages
 * @param comparesOutputs whether the score compares the outputs with what the cases expect
 * @throws CommandError for the first case that does not fit
 */
export function checkCases(
  cases: readonly EvalCase[],
  table: Table,
  name: string,
  { comparesOutputs }: { readonly comparesOutputs: boolean },
): void {
  const inputs = validators(table, "input");
  const config = validators(table, "config");
  const nodes = nodeNames(table, new Set(), new Set());
  const outputs = table.channels.filter(({ role }) => role === "output").map((channel) => channel.name);
  for (const each of cases) {
    const problem =
      problemOf(each.input, inputs, "an input") ??
      problemOf(each.config ?? {}, config, "configuration") ??
      problemOfAnswers(each.answers, nodes) ??
      (comparesOutputs ? problemOfExpected(each.expected, outputs) : undefined);
    if (problem !== undefined) throw new CommandError(`${name}, line ${each.line}: ${printable(problem)}`);
  }
}

interface Declared {
  readonly isRequired: boolean;
  readonly check: (value: unknown) => Mismatch | undefined;
}

function validators(table: Table, role: ChannelSpec["role"]): ReadonlyMap<string, Declared> {
  return new Map(
    table.channels.flatMap((channel) =>
      channel.role === role
        ? [
            [
              channel.name,
              { isRequired: channel.initial === undefined, check: compileValidator(channel.type, table.types) },
            ] as const,
          ]
        : [],
    ),
  );
}

function problemOf(given: JsonObject, declared: ReadonlyMap<string, Declared>, what: string): string | undefined {
  for (const [name, value] of Object.entries(given)) {
    const found = declared.get(name);
    if (found === undefined) {
      const known = [...declared.keys()].map((each) => `\`${each}\``).join(", ");
      return `\`${name}\` is not ${what} of the graph (it has ${known || "none"})`;
    }
    const mismatch = found.check(value);
    if (mismatch !== undefined) return `\`${name}\`: ${mismatch.describe()}`;
  }
  for (const [name, { isRequired }] of declared)
    if (isRequired && !Object.hasOwn(given, name)) return `\`${name}\` is missing, which is ${what} of the graph`;
  return undefined;
}

function problemOfAnswers(answers: EvalCase["answers"], nodes: ReadonlySet<string>): string | undefined {
  const unknown = Object.keys(answers).find((name) => !nodes.has(name));
  return unknown === undefined
    ? undefined
    : `\`answers\` names \`${unknown}\`, which is no node of the graph or of one that it calls`;
}

function nodeNames(table: Table, names: Set<string>, seen: Set<Table>): ReadonlySet<string> {
  if (seen.has(table)) return names;
  seen.add(table);
  for (const { name } of table.nodes) names.add(name);
  for (const called of table.graphs) nodeNames(called, names, seen);
  return names;
}

function problemOfExpected(expected: Json, outputs: readonly string[]): string | undefined {
  // The only output may have any value.
  if (expected === null || outputs.length === 1) return undefined;
  const known = outputs.map((each) => `\`${each}\``).join(", ");
  if (typeof expected !== "object" || Array.isArray(expected))
    return `\`expected\` is an object with outputs by name: the graph has ${known || "none"}`;
  const unknown = Object.keys(expected).find((name) => !outputs.includes(name));
  return unknown === undefined
    ? undefined
    : `\`expected\` names \`${unknown}\`, but the graph has ${known || "no output"}`;
}
