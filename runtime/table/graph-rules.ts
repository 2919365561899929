/** Rules for a routing table that its shape cannot state, because they join several fields. */
import { isLibraryName } from "../expression/library.ts";
import { expressionParts } from "../expression/expression-depth.ts";
import type { Expression } from "../expression/expression.ts";
import { ShapeProblem, type ValuePath } from "./shape-problem.ts";
import type { PlanTable } from "./plan-table.ts";
import { UNDO_NAME } from "./hidden-channels.ts";
import { routeBranches } from "./route-branches.ts";
import {
  barrierTargets,
  END,
  ROLLBACK,
  type BarrierSpec,
  type CallSpec,
  type PlanCallSpec,
  type RouteSpec,
  type Table,
  type TargetSpec,
} from "./table.ts";
import type { ValueType } from "./value-type.ts";

/** The rules for a table whose shape is right. @throws ShapeProblem the first problem */
export function checkGraphRules(table: Table, path: ValuePath): void {
  checkCommonRules(table, path);
  for (const [at, barrier] of table.barriers.entries()) {
    const { kind, target } = barrier;
    if (target < 0 && kind === "waits") bad(path, ["barriers", at, "target"], "`waits` needs a node");
    checkReach(barrier, table, [...path, "barriers", at]);
  }
  checkRoutes(table.start, END, table, [...path, "start"]);
  checkRoutes(table.finally ?? [], END, table, [...path, "finally"]);
  for (const [at, { call, tries, routes, onError, cache, undo }] of table.nodes.entries()) {
    const place = [...path, "nodes", at];
    checkTools(call, [...place, "call"]);
    if (undo !== undefined) checkTools(undo.call, [...place, "undo", "call"], "an undo calls no graph");
    checkBackoff(tries?.backoff, [...place, "tries", "backoff"]);
    checkBackoff(undo?.tries?.backoff, [...place, "undo", "tries", "backoff"]);
    if (cache !== undefined && undo !== undefined) bad(place, ["cache"], "a node with `undo` has no `cache`");
    checkRoutes(routes, at, table, [...place, "routes"]);
    for (const [route, { targets }] of onError.entries()) {
      checkTargets(targets, at, table, [...place, "onError", route, "targets"]);
    }
  }
}

/** The rules for the tools of a call. @param refused why the tools cannot be graphs */
export function checkTools(call: CallSpec | PlanCallSpec, path: ValuePath, refused?: string): void {
  if (call.kind !== "builtin") return;
  for (const [at, tool] of (call.tools ?? []).entries()) {
    const place = [...path, "tools", at];
    if ((tool.function === undefined) === (tool.graph === undefined)) {
      bad(path, ["tools", at], "a tool has either `function` or `graph`");
    }
    if (tool.graph === undefined) continue;
    if (refused !== undefined) bad(place, ["graph"], refused);
    if (tool.parameters.length > 0) bad(place, ["parameters"], "the parameters of a graph are its inputs");
  }
}

/** The rules for the parts that tables of graphs and of plans share. */
export function checkCommonRules(
  table: Pick<Table | PlanTable, "channels" | "types" | "expressions">,
  path: ValuePath,
): void {
  const types = new Set(table.types.map(({ name }) => name));
  for (const [at, { name, role, type, initial }] of table.channels.entries()) {
    if (name === UNDO_NAME) bad(path, ["channels", at, "name"], `no channel can have the name ${UNDO_NAME}`);
    if (initial === undefined && role !== "input" && role !== "config") {
      bad(path, ["channels", at], "`initial` is missing: only an input or a configuration may have no start value");
    }
    checkRefs(type, types, [...path, "channels", at, "type"]);
  }
  for (const [at, { type }] of table.types.entries()) checkRefs(type, types, [...path, "types", at, "type"]);
  for (const [at, expression] of table.expressions.entries()) checkCalls(expression, [...path, "expressions", at]);
}

/**
 * The configuration of called graphs and plans is part of the configuration of their caller. The shapes of all tables have been
 * checked.
 */
export function checkCalledConfig(
  table: Pick<Table | PlanTable, "channels" | "graphs" | "plans">,
  path: ValuePath,
): void {
  const config = new Set(table.channels.flatMap(({ role, name }) => (role === "config" ? [name] : [])));
  for (const called of [...table.graphs, ...(table.plans ?? [])]) {
    for (const { role, name } of called.channels) {
      if (role !== "config" || config.has(name)) continue;
      bad(path, ["channels"], `the configuration \`${name}\` of \`${called.name}\` is missing`);
    }
  }
}

/** Shortest and longest wait between attempts. */
export function checkBackoff(
  backoff: { readonly min: number; readonly max: number } | undefined,
  path: ValuePath,
): void {
  if (backoff !== undefined && backoff.max < backoff.min) bad(path, ["max"], "expected at least `min`");
}

export function bad(path: ValuePath, below: ValuePath, message: string): never {
  throw new ShapeProblem([...path, ...below], message);
}

/** The fields of `settled`. The ranges of a reach are in ascending order and do not touch each other. */
function checkReach(barrier: BarrierSpec, { nodes }: Table, path: ValuePath): void {
  const { kind, members, reach, others } = barrier;
  if (kind !== "settled") {
    if (others !== undefined) bad(path, ["others"], `a barrier of kind \`${kind}\` has one target`);
    if (reach !== undefined) bad(path, ["reach"], `a barrier of kind \`${kind}\` has no reach`);
    return;
  }
  if (reach?.length !== members.length)
    return bad(path, ["reach"], `expected ${members.length} lists, one for each member`);
  for (const target of barrierTargets(barrier)) {
    if (nodes[target]?.waits !== undefined) bad(path, [], "`settled` cannot lead to a node with `waits`");
  }
  for (const [member, ranges] of reach.entries()) {
    if (ranges.length % 2 === 1)
      bad(path, ["reach", member], "expected pairs of the first and the last node of a range");
    for (let at = 0; at < ranges.length; at += 2) {
      const isAscending = ranges[at]! <= ranges[at + 1]! && (at === 0 || ranges[at]! > ranges[at - 1]! + 1);
      if (!isAscending) bad(path, ["reach", member, at], "the ranges of nodes are not in ascending order");
    }
  }
}

function checkRoutes(routes: readonly RouteSpec[], node: number, table: Table, path: ValuePath): void {
  for (const [at, route] of routes.entries()) {
    for (const { targets, path: below } of routeBranches(route)) {
      checkTargets(targets, node, table, [...path, at, ...below]);
    }
  }
}

function checkTargets(targets: readonly TargetSpec[], node: number, table: Table, path: ValuePath): void {
  for (const [at, target] of targets.entries()) {
    if (!("barrier" in target)) {
      if (target.node === ROLLBACK && node === END) bad(path, [at], "`start` cannot lead to `rollback`");
      continue;
    }
    const member = table.barriers[target.barrier]?.members[target.member];
    if (member === undefined) return bad(path, [at, "member"], `there is no member ${target.member}`);
    // The scheduler finds a signal's member by the node that the signal comes from.
    if (!member.includes(node)) bad(path, [at], "signals a member of the barrier that its node does not fill");
  }
}

function checkRefs(type: ValueType, known: ReadonlySet<string>, path: ValuePath): void {
  const open = [type];
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    switch (part.kind) {
      case "ref":
        if (!known.has(part.name)) bad(path, [], `there is no type ${part.name}`);
        break;
      case "list":
        open.push(part.item);
        break;
      case "map":
        open.push(part.value);
        break;
      case "record":
        for (const field of part.fields) open.push(field.type);
        break;
      case "union":
        for (const each of part.members) open.push(each);
        break;
      default:
    }
  }
}

function checkCalls(expression: Expression, path: ValuePath): void {
  const open = [expression];
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    if (part.op === "library" && !isLibraryName(part.name)) bad(path, [], `there is no function ${part.name}`);
    for (const each of expressionParts(part)) open.push(each);
  }
}
