import type { Task } from "../step/task.ts";
import type { JsonObject } from "../value/json.ts";
import { Attempt } from "../step/attempt.ts";
import { runAttempt } from "../step/run-task.ts";
import { describeError } from "../event/run-events.ts";
import type { Run } from "../run/run.ts";
import type { CheckResult } from "./plan-events.ts";
import type { CheckCode, TaskCode } from "./plan-program.ts";
import { taskOf } from "./task-of.ts";

/** Maximum number of bytes of a failed check's output that are kept. */
export const MAX_TAIL_BYTES = 4096;

export interface ChecksEnd {
  readonly results: readonly CheckResult[];
  readonly passed: boolean;
  /** The run was cancelled during the checks. */
  readonly cancelled: boolean;
}

/**
 * Runs all checks of a task, one after the other, because they share a working tree (9.6).
 *
 * @param tried the attempt, and why the previous one has failed
 * @param show puts the values that the checks see into the run's state
 */
export async function runChecks(
  run: Run,
  task: TaskCode,
  { attempt, failure }: { readonly attempt: number; readonly failure: JsonObject | null },
  show: () => void,
): Promise<ChecksEnd> {
  const results: CheckResult[] = [];
  const { clock } = run.shared;
  for (const check of task.checks) {
    const begin = clock.now();
    try {
      show();
    } catch (error) {
      const name = nameOf(run, check, taskOf(check.node, task, failure, { renew: true }));
      results.push({
        cmd: run.shared.redact(name),
        rc: 1,
        duration_s: 0,
        ...tailOf(describeError(error, run.shared.redact)),
      });
      continue;
    }
    const name = run.shared.redact(nameOf(run, check, taskOf(check.node, task, failure, { renew: true })));
    const checking = new Attempt(run, taskOf(check.node, task, failure, { renew: true }), attempt);
    const outcome = await runAttempt(checking);
    if (outcome.cancelled) return { results, passed: false, cancelled: true };
    const verdict =
      outcome.failure === undefined
        ? judge(check, await checking.body)
        : {
            rc: 1,
            output: outcome.pauses === undefined ? outcome.failure.reason : "a check cannot pause",
          };
    results.push({
      cmd: name,
      rc: verdict.rc,
      duration_s: (clock.now() - begin) / 1000,
      ...(verdict.rc === 0 ? {} : tailOf(run.shared.redact(verdict.output))),
    });
  }
  return { results, passed: results.every(({ rc }) => rc === 0), cancelled: false };
}

/**
 * A command passes with exit code 0, an expression if it is true, any other call if it neither fails nor returns
 * `false`.
 */
function judge({ call }: CheckCode, value: unknown): { readonly rc: number; readonly output: string } {
  if (typeof value === "object" && value !== null && call.kind === "builtin" && "code" in value) {
    const { code, stdout, stderr } = value as { code: unknown; stdout?: unknown; stderr?: unknown };
    return { rc: typeof code === "number" ? code : 1, output: `${textOf(stdout)}${textOf(stderr)}` };
  }
  const passed = call.kind === "expression" ? value === true : value !== false;
  return { rc: passed ? 0 : 1, output: passed ? "" : `it returned ${JSON.stringify(value) ?? "nothing"}` };
}

function nameOf(run: Run, { call, command }: CheckCode, task: Task): string {
  if (command !== undefined) {
    try {
      const item = task.node.spec.each?.item;
      const locals = item === undefined || task.item === undefined ? undefined : new Map([[item, task.item]]);
      const text = command({ state: run.state, secrets: run.scope.secrets, error: null, locals });
      if (typeof text === "string") return text;
    } catch {
      // The check itself reports the error.
    }
  }
  const { table } = run.program;
  switch (call.kind) {
    case "builtin":
      return call.name;
    case "function":
      return table.functions[call.function]?.name ?? "function";
    case "graph":
      return table.graphs[call.graph]?.name ?? "graph";
    case "expression":
      return "expression";
  }
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** The end of a text, at most 4,096 bytes of UTF-8, cut between characters. */
function tailOf(text: string): { tail?: string; truncated?: true } {
  if (text === "") return {};
  if (text.length * 3 <= MAX_TAIL_BYTES) return { tail: text };
  // A character takes at least one byte, so earlier ones cannot be part of the result.
  const bytes = new TextEncoder().encode(text.slice(-MAX_TAIL_BYTES - 1));
  if (bytes.length <= MAX_TAIL_BYTES && text.length <= MAX_TAIL_BYTES) return { tail: text };
  let begin = bytes.length - MAX_TAIL_BYTES;
  while (begin < bytes.length && ((bytes[begin] ?? 0) & 0xc0) === 0x80) begin++;
  return { tail: new TextDecoder().decode(bytes.subarray(begin)), truncated: true };
}
