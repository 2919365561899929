import { ExpressionError } from "../expression/expression-error.ts";
import { NodeError } from "../interface/errors.ts";
import { reasonOf } from "../interface/thrown-reason.ts";
import { expressionText } from "../routing/no-route.ts";
import type { Run } from "../run/run.ts";
import { scopeOf } from "./call-body.ts";
import type { Task } from "./task.ts";

/** The error of the first `assert … at` of a node that does not hold when a task of the node starts. */
export function brokenAssertion(run: Run, task: Task): NodeError | undefined {
  for (const { condition, expression } of task.node.asserted ?? []) {
    let cause: unknown;
    try {
      const value = condition(scopeOf(run, task));
      if (value === true) continue;
      if (value !== false) cause = new ExpressionError("wrong_type", `expected a bool, found ${JSON.stringify(value)}`);
    } catch (error) {
      cause = error;
    }
    const { table } = run.program;
    const { name } = task.node.spec;
    const position = table.debug?.expressions[expression];
    const place = position === undefined ? "" : ` (${table.debug?.file ?? ""}:${position.line}:${position.column})`;
    const problem =
      cause === undefined ? "does not hold" : `cannot be evaluated: ${run.shared.redact(reasonOf(cause))}`;
    const item = task.itemIndex === -1 ? "" : ` at item ${task.itemIndex}`;
    const message = `node \`${name}\` cannot start${item}: \`assert ${expressionText(table, expression)} at ${name}\` ${problem}${place}`;
    const items = task.itemIndex === -1 ? [] : [task.itemIndex];
    const { threadId } = run.shared;
    return new NodeError("NG_ASSERTION", name, message, {
      threadId,
      items,
      ...(cause === undefined ? {} : { cause, causeMessage: run.shared.redact(reasonOf(cause)) }),
    });
  }
  return undefined;
}
