import { describeError } from "../event/run-events.ts";
import type { UndoArgument, UndoEntry } from "../interface/undo.ts";
import type { Scope } from "../expression/compile-expression.ts";
import { nameSecrets } from "../expression/secret-arguments.ts";
import type { Json } from "../value/json.ts";
import type { UndoCode } from "../program/program.ts";
import type { Run } from "../run/run.ts";
import type { Attempt } from "./attempt.ts";
import { itemLocals, type Task, type Update } from "./task.ts";

/** How the result of a node with `undo` is undone. */
export function undoEntry({ run, task, step }: Attempt, undo: UndoCode, updates: readonly Update[]): UndoEntry {
  const key = `undo:${run.taskKey(task, step)}`;
  const entry = { key, nodes: [task.node.spec.name], task: task.id, step, call: undo.name };
  try {
    return { ...entry, args: argumentsOf(run, undo, scopeAfter(run, task, updates)) };
  } catch (error) {
    return { ...entry, broken: describeError(error, run.shared.redact) };
  }
}

/** R1: a channel that the task has written has the value of this write, all others have the values that the task has read. */
function scopeAfter(run: Run, task: Task, updates: readonly Update[]): Scope {
  const state = run.state.slice();
  // Mutation point: undo-arguments
  for (const { channel, value } of updates) state[channel] = value;
  return { state, secrets: run.scope.secrets, error: task.error ?? run.error, locals: itemLocals(task) };
}

function argumentsOf(run: Run, { args }: UndoCode, scope: Scope): readonly UndoArgument[] {
  const { table } = run.program;
  const names = {
    channels: table.channels.map(({ name }) => name),
    functions: table.functions.map(({ name }) => name),
  };
  return args.map(({ name, value, expression, isSecret }): UndoArgument => {
    const named = name === undefined ? {} : { name };
    // Mutation point: secret-by-name
    if (!isSecret) return { ...named, value: value(scope) };
    const evaluate = (part: typeof expression): Json => run.program.linker.interpret(part, { names })(scope);
    return { ...named, expression: nameSecrets(expression, evaluate) };
  });
}
