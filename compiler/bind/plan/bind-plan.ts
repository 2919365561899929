/** Binds one plan: resolves names, types calls, and multiplies matrix tasks. */
import type * as Ast from "../../../grammar/ast.ts";
import type { BoundChannel } from "../bound-graph.ts";
import type { BoundPlan, BoundTask } from "./bound-plan.ts";
import type { TaskNeed } from "../../../runtime/table/plan-table.ts";
import { toolTypes } from "../bind-tools.ts";
import { referencedTypes } from "../../types/referenced-types.ts";
import { bindConfig } from "../bind-config.ts";
import { functionsOf, toBoundChannel } from "../bind-graph.ts";
import type { PlanUnit } from "../file-scope.ts";
import type { GraphContext, NodeEntry } from "../graph-context.ts";
import { openContext, watchErrors, type BindOptions } from "../open-context.ts";
import { createExpansion, expandChannel, expandTask } from "../expand-names.ts";
import { mayInterrupt } from "../may-interrupt.ts";
import { signatureDigest } from "../signature-digest.ts";
import { bindTask, type TypedTask } from "./bind-task.ts";
import { settleCommands } from "./command-settings.ts";
import { resolveDependencies, type Dependencies } from "./dependencies.ts";
import { callMatrix, checkDynamicTask, checkDynamicWrites, type OuterPlan } from "./dynamic-matrix.ts";
import { bindMatrix, checkSize, readAxes, sizeOf, type Matrix } from "./matrix.ts";
import { collectPlan } from "./plan-declarations.ts";
import { analyseTaskData, reportUnorderedWrites } from "./task-data.ts";
import { bindTaskPolicies, type TaskPolicies } from "./task-policies.ts";
import { bindStatus, type StatusCondition } from "./task-status.ts";

export function bindPlan(unit: PlanUnit, bindOptions: BindOptions): BoundPlan {
  const { declaration, scope } = unit;
  const file = scope.file.source;
  const options = watchErrors(bindOptions);
  const collected = collectPlan(declaration, file, scope.secrets, options.report);
  const own = new Set(collected.channels.map(({ name }) => name.name));
  const { report } = options;
  const { poisoned } = collected;
  const { expand } = createExpansion({ scope, derived: [], isOwnName: (name) => own.has(name), report, poisoned });
  const declarations = {
    ...collected,
    channels: collected.channels.map((channel) => expandChannel(channel, expand)),
    tasks: collected.tasks.map((task) => readAxes(expandTask(settleCommands(task, scope, options.report), expand))),
  };
  const { tasks, settings } = declarations;
  const entries = tasks.map(asNode);
  const { context, channels, writes } = openContext(unit, { ...declarations, nodes: entries, noun: "task" }, options);
  const { hasBroken } = declarations;
  const dependencies = resolveDependencies(tasks, { name: declaration.name, hasBroken }, context);
  const policies = tasks.map((task) => bindTaskPolicies(task, settings.pools, context));
  const matrices = tasks.map((task) => (task.each === undefined ? undefined : bindMatrix(task.each, context)));
  const isPartial = dependencies.isPartial || hasBroken || options.hasSyntaxErrors;
  const mayBeEmpty = matrices.map((matrix) => matrix?.axes !== undefined);
  const input = { tasks, writes, dependencies, channels, isPartial, mayBeEmpty };
  const data = analyseTaskData(input);
  const adviceOn = adviser(
    tasks,
    writes.map((list) => list.map(({ channel }) => channel.name)),
  );
  const statuses = tasks.map(({ condition }, index) =>
    condition === undefined ? undefined : bindStatus(condition, index, { tasks, dependencies }, context),
  );
  /** By declared task: what it calls. */
  const contexts = tasks.map((_, index): GraphContext =>
    mayBeEmpty[index] === true ? { ...context, called: new Set(), calledPlans: new Set() } : context,
  );
  const typed = tasks.map((task, index) =>
    bindTask(
      {
        entry: entries[index] ?? asNode(task, index),
        task,
        matrix: matrices[index],
        writes: writes[index] ?? [],
        policies: policies[index] ?? NO_POLICIES,
        status: statuses[index],
        unwritten: data.unwritten[index] ?? new Map(),
        adviceOn: adviceOn(task.name.name),
      },
      contexts[index] ?? context,
    ),
  );
  if (!isPartial) reportUnorderedWrites(input, context);
  const isTooLarge = !checkSize(tasks, matrices, dependencies.after, context);
  const called = new Set([context, ...contexts].flatMap((each) => [...each.called]));
  const calledPlans = new Set([context, ...contexts].flatMap((each) => [...each.calledPlans]));
  const isCalledBroken = [...called, ...calledPlans].some((each) => each.hasErrors);
  const boundChannels = channels.map((channel): BoundChannel => toBoundChannel(channel, data.mayEndNull));
  const config = bindConfig(boundChannels, { ...context, called, calledPlans });
  const multiplied = isTooLarge ? [] : multiply({ typed, policies, statuses, matrices, dependencies });
  const outer: OuterPlan = {
    file,
    declaration,
    name: declaration.name.name,
    ...(declaration.doc === undefined ? {} : { doc: declaration.doc.text }),
    channels: boundChannels,
    config,
    ...settings,
    functions: functionsOf(channels, context),
    signatureOf: (name) => signatureDigest(name, context),
    mayInterrupt: (name) => mayInterrupt(name, context),
    secrets: [...scope.secrets.keys()],
  };
  const types = referencedTypes(
    [
      ...channels.map(({ type }) => type),
      ...config.map(({ channel }) => channel.type),
      ...typed.flatMap(({ result }) => result ?? []),
      ...typed.flatMap(({ call }) => toolTypes(call)),
    ],
    options.types,
  );
  const finished = multiplied.map((task): BoundTask => {
    const index = tasks.indexOf(task.declaration);
    const dynamic = typed[index]?.dynamic;
    if (dynamic === undefined) return task;
    checkDynamicWrites(writes[index] ?? [], boundChannels, context);
    checkDynamicTask(task, dynamic, outer, context);
    const own = contexts[index] ?? context;
    return callMatrix(task, dynamic, { ...outer, types }, { graphs: [...own.called], plans: [...own.calledPlans] });
  });
  return {
    ...outer,
    tasks: finished,
    types,
    typeScriptChecks: context.typeScriptChecks,
    graphs: [...context.called],
    plans: plansOf(finished, [...context.calledPlans]),
    hasErrors: options.foundErrors() || isCalledBroken || hasBroken,
    poisoned: context.poisoned,
  };
}

const NO_POLICIES: TaskPolicies = { touches: [], alone: false, idempotent: false, checks: [] };

/** A task in the form that the functions for nodes take. */
function asNode(task: Ast.TaskDecl, index: number): NodeEntry {
  const { span, name, call, output } = task;
  const declaration: Ast.NodeDecl = {
    kind: "Node",
    span,
    name,
    call,
    ...(output === undefined ? {} : { output }),
    policies: [],
  };
  return { declaration, name: name.name, index };
}

/** Makes a task for each value of a matrix. A task that comes after a matrix task comes after all of these. */
function multiply({
  typed,
  policies,
  statuses,
  matrices,
  dependencies,
}: {
  readonly typed: readonly TypedTask[];
  readonly policies: readonly TaskPolicies[];
  readonly statuses: readonly (StatusCondition | undefined)[];
  readonly matrices: readonly (Matrix | undefined)[];
  readonly dependencies: Dependencies;
}): readonly BoundTask[] {
  const firsts: number[] = [];
  const sizes = matrices.map(sizeOf);
  let total = 0;
  for (const size of sizes) {
    firsts.push(total);
    total += size;
  }
  const tasksOf = (declared: number): readonly number[] =>
    Array.from({ length: sizes[declared] ?? 0 }, (_, value) => (firsts[declared] ?? 0) + value);
  return typed.flatMap(({ result: _result, dynamic: _dynamic, ...task }, declared): readonly BoundTask[] => {
    const {
      touches = [],
      alone = false,
      allowFailure,
      worktree,
      interactive,
      pool,
    } = policies[declared] ?? NO_POLICIES;
    const { name } = task.declaration.name;
    const own = dependencies.needs[declared];
    const before: number[] = [];
    const needs: TaskNeed[] = [];
    for (const index of dependencies.after[declared] ?? []) {
      for (const each of tasksOf(index)) {
        before.push(each);
        needs.push(own?.get(index) ?? "all");
      }
    }
    const read = [...(statuses[declared]?.tasks ?? [])];
    const whole = {
      ...task,
      ...(read.length === 0
        ? {}
        : { statuses: read.map(([local, index]) => ({ name: local, tasks: tasksOf(index) })) }),
      name,
      after: before,
      ...(own === undefined ? {} : { trigger: "mixed" as const, needs }),
      touches,
      alone,
      ...(allowFailure === true ? { allowFailure } : {}),
      ...(worktree === true ? { worktree } : {}),
      ...(interactive === true ? { interactive } : {}),
      ...(pool === undefined ? {} : { pool }),
    };
    const matrix = matrices[declared];
    if (matrix === undefined || matrix.axes !== undefined) return [whole];
    return matrix.values.map((value, at): BoundTask => ({
      ...whole,
      name: `${name}[${matrix.texts[at] ?? ""}]`,
      item: { name: matrix.item, value },
    }));
  });
}

/** Called plans, in the order of their first call by a task; then those that only other parts name. */
function plansOf(tasks: readonly BoundTask[], called: readonly BoundPlan[]): readonly BoundPlan[] {
  return [...new Set([...tasks.flatMap(({ call }) => (call.kind === "plan" ? [call.plan] : [])), ...called])];
}

/** The help for a channel that no earlier task has written: come after a task that writes it. */
function adviser(
  tasks: readonly Ast.TaskDecl[],
  writes: readonly (readonly string[])[],
): (reader: string) => (channel: string) => string | undefined {
  return (reader) => (channel) => {
    const at = writes.findIndex((list, index) => list.includes(channel) && tasks[index]?.name.name !== reader);
    const writer = tasks[at]?.name.name;
    return writer === undefined
      ? `let a task that \`${reader}\` comes after write it with \`into ${channel}\`, or give it a default`
      : `a task sees what those before it wrote: \`after ${writer}\`, or give the channel a default`;
  };
}
