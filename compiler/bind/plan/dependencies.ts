/** Resolves `after` to task indexes, and reports tasks that could never start (NG701 to NG704). */
import {
  dependencyCycle,
  noRoots,
  repeatedDependency,
  selfDependency,
  unknownDependency,
} from "../../../diagnostics/catalog/plans.ts";
import { notSupported } from "../../../diagnostics/catalog/names.ts";
import type { Label } from "../../../diagnostics/diagnostic.ts";
import { suggest } from "../../../diagnostics/similar.ts";
import type { Span } from "../../../diagnostics/source.ts";
import type * as Ast from "../../../grammar/ast.ts";
import { depthFirst } from "../../algorithms/depth-first.ts";
import { isSilenced, placeIn, type GraphContext } from "../graph-context.ts";

export interface Dependencies {
  /** By declared task: those that it comes after, ascending. */
  readonly after: readonly (readonly number[])[];
  /** By declared task: those that come after it. */
  readonly next: readonly (readonly number[])[];
  /** By declared task. A `finally` task has a `mixed` trigger: it needs that all ordinary tasks have ended. */
  readonly triggers: readonly Ast.TaskDecl["trigger"][];
  /** By declared task with a `mixed` trigger: what it waits for in each task that it comes after. */
  readonly needs: readonly (ReadonlyMap<number, Ast.TaskNeed> | undefined)[];
  /** By declared task: whether it runs only if another one has failed. */
  readonly awaitsFailure: readonly boolean[];
  /** A topological order; tasks on a cycle are missing. */
  readonly order: readonly number[];
  /** Dependencies that could not be resolved are missing, or some form a cycle. */
  readonly isPartial: boolean;
}

interface Dependency {
  readonly task: number;
  readonly at: Ast.Identifier;
  readonly need: Ast.TaskNeed;
}

export function resolveDependencies(
  tasks: readonly Ast.TaskDecl[],
  plan: { readonly name: Ast.Identifier; readonly hasBroken: boolean },
  context: GraphContext,
): Dependencies {
  const indexes = new Map(tasks.map((task, index) => [task.name.name, index]));
  let isPartial = plan.hasBroken;
  const resolved = tasks.map((task) => {
    const found: Dependency[] = [];
    const seen = new Map<string, Span>();
    for (const [position, at] of task.after.entries()) {
      const { name, span } = at;
      const first = seen.get(name);
      const index = indexes.get(name);
      const facts = { task: task.name.name, name };
      if (name === task.name.name) context.report(selfDependency(placeIn(context, span), facts));
      else if (first !== undefined) {
        context.report(repeatedDependency(placeIn(context, span), { ...facts, first: placeIn(context, first) }));
      } else if (index === undefined) {
        isPartial = true;
        reportUnknown(at, indexes, context);
      } else found.push({ task: index, at, need: needAt(task, position) });
      seen.set(name, first ?? span);
    }
    return found;
  });
  addFinalDependencies(tasks, resolved, context);
  const after = resolved.map((list) => list.map(({ task }) => task).sort((a, b) => a - b));
  const next: number[][] = tasks.map(() => []);
  for (const [index, list] of after.entries()) for (const before of list) next[before]?.push(index);
  const order = topologicalOrder(after, next);
  if (order.length < tasks.length || tasks.length === 0) {
    const cycles = findCycles(resolved);
    const hasRoots = after.some((list) => list.length === 0);
    if (!hasRoots && !(tasks.length === 0 && isPartial)) {
      const cycle = cycles[0]?.map(({ task }) => tasks[task]?.name.name ?? "");
      const place = placeIn(context, plan.name.span);
      context.report(noRoots(place, { cycle: closed(cycle), isEmpty: tasks.length === 0 }));
    } else for (const cycle of cycles) reportCycle(cycle, tasks, context);
    isPartial = true;
  }
  const triggers = tasks.map(({ trigger, isFinal }, task) =>
    isFinal === true ? (resolved[task]?.length === 0 ? "all" : "mixed") : trigger,
  );
  const needs = triggers.map((trigger, task) =>
    trigger === "mixed" ? new Map(resolved[task]?.map((each) => [each.task, each.need])) : undefined,
  );
  const awaitsFailure = tasks.map(
    ({ trigger, needs: own }) => trigger === "failed" || own?.includes("failed") === true,
  );
  return { after, next, triggers, needs, awaitsFailure, order, isPartial };
}

/** A `finally` task comes after all tasks that are none, and starts when they have ended. */
function addFinalDependencies(
  tasks: readonly Ast.TaskDecl[],
  resolved: readonly Dependency[][],
  context: GraphContext,
): void {
  const ordinary = tasks.flatMap((task, index) => (task.isFinal === true ? [] : [index]));
  for (const [index, list] of resolved.entries()) {
    const task = tasks[index];
    if (task?.isFinal !== true) continue;
    if (task.trigger === "any") {
      const help = "a `finally` task waits for all other tasks: leave `any` out, or name another `finally` task";
      context.report(
        notSupported(placeIn(context, task.name.span), { what: "`after any` of a `finally` task is", help }),
      );
    }
    const named = new Set(list.map(({ task: before }) => before));
    for (const before of ordinary) if (!named.has(before)) list.push({ task: before, at: task.name, need: "done" });
  }
}

function needAt({ trigger, needs }: Ast.TaskDecl, position: number): Ast.TaskNeed {
  if (trigger === "mixed") return needs?.[position] ?? "all";
  return trigger === "any" ? "all" : trigger;
}

function reportUnknown(at: Ast.Identifier, indexes: ReadonlyMap<string, number>, context: GraphContext): void {
  const { name, span } = at;
  if (isSilenced(name, context)) return;
  const { similar, known } = suggest(name, () => indexes.keys(), context.suggestions);
  const isChannel = context.channels.has(name);
  context.report(unknownDependency(placeIn(context, span), { name, similar, known, isChannel }));
}

function topologicalOrder(after: readonly (readonly number[])[], next: readonly (readonly number[])[]): number[] {
  const waiting = after.map((list) => list.length);
  const order = waiting.flatMap((count, task) => (count === 0 ? [task] : []));
  for (let at = 0; at < order.length; at++) {
    for (const task of next[order[at] ?? -1] ?? []) {
      const left = (waiting[task] ?? 0) - 1;
      waiting[task] = left;
      if (left === 0) order.push(task);
    }
  }
  return order;
}

/**
 * Cycles in the order in which their tasks would run, each beginning with its first task of the file; `at` names the
 * task before.
 */
function findCycles(after: readonly (readonly Dependency[])[]): readonly (readonly Dependency[])[] {
  const cycles: Dependency[][] = [];
  depthFirst(after.keys(), {
    edges: (task) => after[task] ?? [],
    target: ({ task }) => task,
    onCycle: (cycle) => {
      cycles.push(firstFirst(cycle.map(({ vertex, edge }) => ({ ...edge, task: vertex })).reverse()));
    },
  });
  return cycles;
}

function firstFirst(cycle: Dependency[]): Dependency[] {
  const first = cycle.reduce((least, { task }) => Math.min(least, task), Infinity);
  const at = cycle.findIndex(({ task }) => task === first);
  return [...cycle.slice(at), ...cycle.slice(0, at)];
}

function closed(cycle: readonly string[] | undefined): readonly string[] | undefined {
  return cycle?.[0] === undefined ? undefined : [...cycle, cycle[0]];
}

/** Maximum number of labels in a diagnostic; the others are left out. */
const MAX_LABELS = 8;

function reportCycle(cycle: readonly Dependency[], tasks: readonly Ast.TaskDecl[], context: GraphContext): void {
  const nameOf = ({ task }: Dependency): string => tasks[task]?.name.name ?? "";
  const [first, ...others] = cycle;
  if (first === undefined) return;
  const labels = others.slice(0, MAX_LABELS).map((step): Label => ({
    ...placeIn(context, step.at.span),
    message: `\`${nameOf(step)}\` comes after \`${step.at.name}\``,
  }));
  const names = closed(cycle.map(nameOf)) ?? [];
  context.report(dependencyCycle(placeIn(context, first.at.span), { cycle: names, labels }));
}
