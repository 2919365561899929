/** The configuration of a run: `config` channels, one value for each name in the graph and in all that it calls. */
import { equal } from "../expression/equal.ts";
import { RunError } from "../interface/errors.ts";
import type { Json, JsonObject } from "../value/json.ts";
import { readRecord } from "../value/read-record.ts";
import { Mismatch } from "../value/validate.ts";
import { similarName } from "./option-names.ts";
import type { Run } from "./run.ts";

/** Checks and applies the configuration of a new run. @throws RunError NG_BAD_INPUT naming every value that does not fit */
export function applyConfig(run: Run, given: JsonObject | undefined): void {
  const { config } = run.program;
  if (config.length === 0 && given === undefined) return;
  const missing = config.filter(
    ({ name, spec }) => spec.initial === undefined && (given === undefined || valueOf(given, name) === undefined),
  );
  setConfig(
    run,
    given ?? {},
    missing.map(({ name }) => `\`${name}\` is missing`),
  );
}

/** Replaces values of the configuration. The others keep theirs. @throws RunError NG_BAD_INPUT */
export function changeConfig(run: Run, given: JsonObject | undefined): void {
  if (given !== undefined) setConfig(run, given, []);
}

/** The configuration of a called graph or plan is that of its caller. */
export function inheritConfig(run: Run, caller: Run): void {
  for (const { name, index } of run.program.config) {
    const value = caller.state[caller.program.channelIndex.get(name)!]!;
    if (equal(run.state[index]!, value)) continue;
    run.writer?.touch(index, null, false);
    run.state[index] = value;
  }
}

function setConfig(run: Run, values: JsonObject, problems: string[]): void {
  const { config, table, what } = run.program;
  const given = readRecord(values);
  if (given instanceof Mismatch) {
    const message = `the configuration of ${what} \`${table.name}\` must be a record: ${given.describe()}`;
    throw new RunError("NG_BAD_INPUT", message);
  }
  for (const name of Object.keys(given)) {
    const value = valueOf(given, name);
    if (value === undefined) continue;
    const channel = config.find((one) => one.name === name);
    if (channel === undefined) {
      problems.push(unknownName(name, run));
      continue;
    }
    const admitted = channel.admit(value);
    if (admitted instanceof Mismatch) problems.push(`\`${name}\`: ${admitted.describe()}`);
    else {
      run.writer?.touch(channel.index, null, false);
      run.state[channel.index] = admitted;
    }
  }
  if (problems.length === 0) return;
  const text = run.shared.redact(problems.join("; "));
  throw new RunError("NG_BAD_INPUT", `the configuration of ${what} \`${table.name}\` does not fit: ${text}`);
}

function unknownName(name: string, { program }: Run): string {
  const names = program.config.map((channel) => channel.name);
  const similar = similarName(name, names);
  if (similar !== undefined) return `\`${name}\` is not configuration: did you mean \`${similar}\`?`;
  const known = names.map((one) => `\`${one}\``).join(", ");
  return `\`${name}\` is not configuration (the configuration is: ${known || "none"})`;
}

function valueOf(given: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(given, name) ? given[name] : undefined;
}
