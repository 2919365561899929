import type { Checkpoint } from "../interface/checkpoint.ts";
import { RunError } from "../interface/errors.ts";
import { equal } from "../expression/equal.ts";
import type { Program } from "../program/program.ts";
import type { Json, JsonObject } from "../value/json.ts";
import { readRecord } from "../value/read-record.ts";
import { Mismatch } from "../value/validate.ts";
import type { Run } from "./run.ts";
import { endTurnAfter } from "./cut-work.ts";

/** Checks and applies the input. @throws RunError NG_BAD_INPUT naming every field that does not fit */
export function applyInput(run: Run, given: JsonObject): void {
  const { channels, channelIndex, required, table, what } = run.program;
  const problems: string[] = [];
  const input = readRecord(given);
  if (input instanceof Mismatch) {
    const message = `the input of ${what} \`${table.name}\` must be a record of its inputs: ${input.describe()}`;
    throw new RunError("NG_BAD_INPUT", message);
  }
  for (const name of Object.keys(input)) {
    const value = input[name] as unknown;
    if (value === undefined) continue;
    const index = channelIndex.get(name);
    const channel = index === undefined ? undefined : channels[index];
    if (index === undefined || channel?.spec.role !== "input") {
      const inputs = channels.filter(({ spec }) => spec.role === "input").map((one) => `\`${one.name}\``);
      problems.push(`\`${name}\` is not an input (the inputs are: ${inputs.join(", ") || "none"})`);
      continue;
    }
    const admitted = channel.admit(value);
    if (admitted instanceof Mismatch) problems.push(`\`${name}\`: ${admitted.describe()}`);
    else {
      run.writer?.touch(index, null, false);
      run.state[index] = admitted;
      endTurnAfter(run.shared, admitted);
    }
  }
  for (const { name } of required) {
    if (!Object.hasOwn(input, name) || input[name] === undefined) problems.push(`\`${name}\` is missing`);
  }
  if (problems.length === 0) return;
  const text = run.shared.redact(problems.join("; "));
  throw new RunError("NG_BAD_INPUT", `the input of ${what} \`${table.name}\` does not fit: ${text}`);
}

/** Whether a checkpoint of this graph belongs to a run with this input: a call with other arguments is another run. */
export function hasInput({ channels, initial }: Program, head: Checkpoint, input: JsonObject): boolean {
  return channels.every((channel) => {
    const { name, index, spec } = channel;
    if (spec.role !== "input") return true;
    const given = Object.hasOwn(input, name) ? (input[name] as Json | undefined) : undefined;
    const admitted = given === undefined ? initial[index]! : channel.admit(given);
    const stored = Object.hasOwn(head.values, name) ? head.values[name]! : initial[index]!;
    return !(admitted instanceof Mismatch) && equal(stored, admitted);
  });
}
