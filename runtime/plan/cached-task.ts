import type { Evaluate } from "../expression/compile-expression.ts";
import type { Json, JsonObject } from "../value/json.ts";
import type { CallSpec, ToolSpec } from "../table/table.ts";
import type { Update } from "../step/task.ts";
import { Mismatch } from "../value/mismatch.ts";
import type { PlanProgram, TaskCode } from "./plan-program.ts";
import type { PlanTable, TaskIndex } from "../table/plan-table.ts";
import { runPlanTask, type PlanTaskEnd, type TaskEnvironment } from "./run-plan-task.ts";
import type { ResultKeys } from "./result-keys.ts";
import type { TaskCache, TaskCacheRequest } from "./task-cache.ts";

/** The cache of a run, and what its finished tasks have made. */
export interface CacheState {
  readonly cache: TaskCache | undefined;
  readonly keys: ResultKeys;
  /** Tasks that run even if they have a cached result. */
  readonly forced: ReadonlySet<TaskIndex> | undefined;
}

/** Runs a task, or returns its cached result if nothing that it depends on has changed (policy `cache`). */
export async function runOrRecall(
  program: PlanProgram,
  task: TaskCode,
  environment: TaskEnvironment,
  { cache, keys, forced }: CacheState,
): Promise<PlanTaskEnd> {
  const end = await recallOrRun(program, task, environment, { cache, keys, forced });
  if (end.kind === "done") keys.record(task.index, storedUpdates(program, end.updates));
  return end;
}

async function recallOrRun(
  program: PlanProgram,
  task: TaskCode,
  environment: TaskEnvironment,
  { cache, keys, forced }: CacheState,
): Promise<PlanTaskEnd> {
  if (cache === undefined || task.spec.cache === undefined) return runPlanTask(task, environment);
  const request = requestOf(program, task, environment, keys);
  if (request === undefined) return runPlanTask(task, environment);
  const entry = await cache.look(request);
  const isForced = forced?.has(task.index) === true;
  const recalled = entry.result === undefined || isForced ? undefined : readResult(program, task, entry.result);
  if (recalled !== undefined) {
    environment.onAttempt({
      node_id: task.spec.name,
      attempt: 1,
      duration_s: 0,
      converged: true,
      done_when_results: [],
      cached: true,
    });
    return { kind: "done", updates: recalled, attempts: 0, isCached: true };
  }
  if (!isForced)
    environment.onChanged?.(task.spec.name, entry.result === undefined ? entry.changed : ["the stored result"]);
  const end = await runPlanTask(task, environment);
  if (end.kind === "done") await cache.keep(request, storedUpdates(program, end.updates));
  return end;
}

/** Updates by channel name instead of index, so that they survive changes of the plan. */
export function storedUpdates(program: PlanProgram, updates: readonly Update[]): Json {
  const { channels } = program.program;
  return updates.map(({ channel, value }) => [channels[channel]?.name ?? "", value]);
}

/** Reads stored updates; `undefined` if one of them does not fit the plan. */
export function readUpdates(program: PlanProgram, stored: Json | undefined): readonly Update[] | undefined {
  const { channels, channelIndex } = program.program;
  const updates: Update[] = [];
  for (const entry of Array.isArray(stored) ? (stored as readonly Json[]) : []) {
    const [name, value] = Array.isArray(entry) ? (entry as readonly Json[]) : [];
    if (typeof name !== "string" || value === undefined) return undefined;
    const index = channelIndex.get(name);
    const admitted = index === undefined ? undefined : channels[index]?.admitUpdate(value);
    if (index === undefined || admitted === undefined || admitted instanceof Mismatch) return undefined;
    updates.push({ channel: index, value: admitted });
  }
  return updates;
}

/** The updates of a stored result; `undefined` if they are not those that the task makes: the result may come from elsewhere. */
function readResult(program: PlanProgram, { node }: TaskCode, stored: Json): readonly Update[] | undefined {
  const updates = Array.isArray(stored) ? readUpdates(program, stored) : undefined;
  if (updates === undefined) return undefined;
  const { output } = node;
  const targets = output === undefined ? [] : output.kind === "channel" ? [output] : output.fields;
  const made = new Set(updates.map(({ channel }) => channel));
  const isMade = updates.every(({ channel }) => targets.some((target) => target.channel === channel));
  const isWhole = targets.every(
    (target) => made.has(target.channel) || ("optional" in target && target.optional === true),
  );
  return isMade && isWhole ? updates : undefined;
}

/** `undefined` if an argument has no value. The attempt reports the error. */
function requestOf(
  program: PlanProgram,
  task: TaskCode,
  { run, values, holder }: TaskEnvironment,
  keys: ResultKeys,
): TaskCacheRequest | undefined {
  const { spec } = task;
  if (spec.cache === undefined) return undefined;
  const { expressions } = program.program.routing;
  const locals = spec.item === undefined ? undefined : new Map([[spec.item.name, spec.item.value]]);
  const scope = { state: run.state, secrets: run.scope.secrets, error: null, locals };
  const valueOf = (index: number): Json => (expressions[index] as Evaluate)(scope);
  try {
    values.show(task);
    const checks = spec.checks.map((call) => describe(program, call, valueOf));
    return {
      plan: program.plan.name,
      task: spec.name,
      node: holder,
      call: { call: describe(program, spec.call, valueOf), checks },
      touches: spec.touches,
      cache: spec.cache,
      upstream: keys.upstream(task.index),
    };
  } catch {
    return undefined;
  }
}

function describe(
  { plan }: PlanProgram,
  call: PlanProgram["plan"]["tasks"][number]["call"] | CallSpec,
  valueOf: (index: number) => Json,
): JsonObject {
  const named = (args: readonly { readonly name: string; readonly expression: number }[]): Json =>
    args.map(({ name, expression }) => [name, valueOf(expression)]);
  switch (call.kind) {
    case "builtin":
      return {
        builtin: call.name,
        args: named(call.args),
        ...(call.tools === undefined
          ? {}
          : { tools: JSON.stringify(call.tools.map((tool) => withDigest(tool, plan))) }),
      };
    case "function": {
      const { module, export: name } = plan.functions[call.function] ?? { module: "", export: "" };
      return { module, name, args: call.args.map(valueOf) };
    }
    case "graph":
      return { digest: plan.graphs[call.graph]?.digest ?? "", args: named(call.args) };
    case "plan":
      return { digest: plan.plans[call.plan]?.digest ?? "", args: named(call.args) };
    case "expression":
      return { value: valueOf(call.expression) };
  }
}

/** A tool that is a graph, with the digest of the graph instead of its place in the plan. */
function withDigest({ graph, ...tool }: ToolSpec, plan: PlanTable): object {
  return graph === undefined ? tool : { ...tool, digest: plan.graphs[graph]?.digest ?? "" };
}
