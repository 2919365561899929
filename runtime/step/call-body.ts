import type { Scope } from "../expression/compile-expression.ts";
import { setField } from "../expression/operations.ts";
import type { Json } from "../value/json.ts";
import { admitJson, Mismatch } from "../value/validate.ts";
import { callsRuns } from "../program/program.ts";
import type { Run } from "../run/run.ts";
import { isCommand, type Attempt } from "./attempt.ts";
import { TaskContext } from "./task-context.ts";
import { itemLocals, type Task } from "./task.ts";

/** Calls the body of a task with the arguments that the graph passes. Throws what the body throws. */
export function callBody(attempt: Attempt): unknown {
  const { run, task } = attempt;
  const { call } = task.node;
  switch (call.kind) {
    case "expression":
      return call.value(scopeOf(run, task));
    case "mock":
      return call.body(new TaskContext(attempt));
    case "body": {
      const scope = scopeOf(run, task);
      const [first, second] = call.args;
      const isLocal = run.shared.execute === undefined;
      if (!task.node.isCached && isLocal) {
        // Most bodies take at most one argument: a direct call is faster than one with a list of arguments.
        if (first === undefined) return call.body(new TaskContext(attempt));
        if (second === undefined) return call.body(first(scope), new TaskContext(attempt));
      }
      const args: unknown[] = [];
      for (const evaluate of call.args) args.push(evaluate(scope));
      const body = (context: TaskContext): unknown =>
        execute(attempt, args as Json[], context, () => call.body(...args, context));
      if (task.node.isCached) return callCached(attempt, args as Json[], body);
      return body(new TaskContext(attempt));
    }
    case "builtin":
    case "plan":
    case "graph": {
      const scope = scopeOf(run, task);
      const args: Record<string, Json> = {};
      for (let i = 0; i < call.names.length; i++) setField(args, call.names[i]!, call.args[i]!(scope));
      if (call.kind === "plan") return call.body(attempt, args);
      const body = (context: TaskContext): unknown =>
        call.kind === "graph"
          ? call.body(attempt, args)
          : execute(attempt, args, context, () => call.body(args, context));
      if (task.node.isCached) return callCached(attempt, [args], body);
      return body(new TaskContext(attempt));
    }
  }
}

/** Passes a body to the system that the run lives on, if it executes bodies. */
function execute(
  { run, task }: Attempt,
  args: readonly Json[] | Readonly<Record<string, Json>>,
  context: TaskContext,
  local: () => unknown,
): unknown {
  const { execute: host } = run.shared;
  // The call of an undo, and of a task of a plan, is not the one that the table names for the node.
  if (host === undefined || task.undo !== undefined || run.program.what === "plan") return local();
  const isAlone = run.path.length === 0 && task.itemIndex === -1 && run.ready.length + run.sends.length === 1;
  return host({ graph: run.program.table.name, node: task.node.spec.name, args, isAlone }, context, local);
}

/** The values that the expressions of a task read. */
export function scopeOf(run: Run, task: Task): Scope {
  if (!task.node.isEach && task.error === null) return run.scope;
  const { state, secrets, outcome } = run.scope;
  return { state, secrets, outcome, error: task.error ?? run.error, locals: itemLocals(task) };
}

/** Policy `cache`: a call with equal arguments returns the cached result. */
function callCached(attempt: Attempt, args: readonly Json[], call: (context: TaskContext) => unknown): unknown {
  const { run, task } = attempt;
  const { cache } = run.shared;
  const key = `${run.program.table.digest}/${task.node.spec.name}/${JSON.stringify(args)}`;
  const hit = cache.get(key);
  if (hit !== undefined) {
    attempt.cached = true;
    return hit;
  }
  attempt.cacheKey = key;
  return call(new TaskContext(attempt));
}

/**
 * Caches the result of an attempt, after the channels have accepted it: a cached wrong result would fail every later run.
 * Results that depend on an answer, and commands, are never cached.
 */
export function cacheResult(attempt: Attempt, value: unknown): void {
  const { run, task, cacheKey, hasRequests, interrupts } = attempt;
  if (cacheKey === undefined || isCommand(value) || hasRequests || interrupts > 0) return;
  // A called graph, or one that a model has called as a tool, may have asked.
  if (callsRuns(task.node) && Object.keys(run.children).length > 0) return;
  // `null` stands for a missing result: the entry records that the body has run.
  const admitted = admitJson(value ?? null);
  if (!(admitted instanceof Mismatch)) run.shared.cache.set(cacheKey, admitted, task.node.spec.cache?.for ?? null);
}
