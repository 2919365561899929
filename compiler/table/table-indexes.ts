/** What the schema of a table cannot say: that every index points at something, and that names are told apart. */
import { expressionDepth, expressionParts } from "../../runtime/expression/expression-depth.ts";
import type { Expression } from "../../runtime/expression/expression.ts";
import { MAX_EXPRESSION_DEPTH } from "../../runtime/expression/limits.ts";
import type { CallSpec, NodeSpec, OutputSpec, RouteSpec, Table, TargetSpec } from "../../runtime/table/table.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";

/** What tables of graphs and of plans are both made of. */
export type TableParts = Pick<Table, "channels" | "types" | "expressions" | "functions" | "graphs">;

export interface TableProblem {
  /** JSON pointer into the table. */
  readonly path: string;
  readonly message: string;
}

/** The first index of a table that points at nothing, or name that stands twice; `undefined` for a good table. */
export function findBadIndex(table: Table): TableProblem | undefined {
  const found: TableProblem[] = [];
  const check = createChecker(table, found);
  checkNames(table.channels, "/channels", "channels", found);
  checkNames(table.nodes, "/nodes", "nodes", found);
  checkNames(table.barriers, "/barriers", "barriers", found);
  checkParts(table, check);
  for (const [at, barrier] of table.barriers.entries()) {
    check.target({ node: barrier.target }, `/barriers/${at}/target`);
    for (const [member, nodes] of barrier.members.entries()) {
      for (const node of nodes) check.node(node, `/barriers/${at}/members/${member}`);
    }
  }
  checkRoutes(table.start, "/start", check);
  for (const [at, node] of table.nodes.entries()) checkNode(node, `/nodes/${at}`, check);
  for (const [at, assertion] of table.assertions.entries()) {
    for (const [name, value] of Object.entries(assertion)) {
      if (typeof value === "number") check.target({ node: value }, `/assertions/${at}/${name}`);
    }
  }
  return found[0];
}

/** Channels, types and expressions. */
export function checkParts(table: TableParts, check: PartChecker): void {
  const { found } = check;
  const types = new Set(table.types.map((item) => item.name));
  for (const [at, channel] of table.channels.entries()) {
    const path = `/channels/${at}`;
    checkType(channel.type, `${path}/type`, types, found);
    if (channel.reducer?.kind === "function") check.function(channel.reducer.function, `${path}/reducer/function`);
  }
  for (const [at, { type }] of table.types.entries()) checkType(type, `/types/${at}/type`, types, found);
  for (const [at, expression] of table.expressions.entries()) checkExpression(expression, `/expressions/${at}`, check);
}

/** Each notes an index that points at nothing. */
export interface PartChecker {
  readonly found: TableProblem[];
  readonly channel: (index: number, path: string) => void;
  readonly expression: (index: number, path: string) => void;
  readonly function: (index: number, path: string) => void;
  readonly graph: (index: number, path: string) => void;
}

interface Checker extends PartChecker {
  /** How many plans there are. */
  readonly plans: number;
  readonly node: (index: number, path: string) => void;
  readonly barrier: (index: number, path: string) => void;
  /** A node, `END`, or a member of a barrier. */
  readonly target: (target: TargetSpec, path: string) => void;
}

/** Notes an index that is not one of `length` things. */
export function within(length: number, what: string, found: TableProblem[]): (index: number, path: string) => void {
  return (index, path) => {
    if (index < 0 || index >= length) found.push({ path, message: `there is no ${what} ${index}` });
  };
}

export function createPartChecker(table: TableParts, found: TableProblem[]): PartChecker {
  return {
    found,
    channel: within(table.channels.length, "channel", found),
    expression: within(table.expressions.length, "expression", found),
    function: within(table.functions.length, "function", found),
    graph: within(table.graphs.length, "graph", found),
  };
}

function createChecker(table: Table, found: TableProblem[]): Checker {
  const node = within(table.nodes.length, "node", found);
  const barrier = within(table.barriers.length, "barrier", found);
  return {
    ...createPartChecker(table, found),
    plans: table.plans?.length ?? 0,
    node,
    barrier,
    target(target, path) {
      if ("node" in target) {
        if (target.node !== -1) node(target.node, `${path}/node`);
        return;
      }
      barrier(target.barrier, `${path}/barrier`);
      const members = table.barriers[target.barrier]?.members;
      if (members !== undefined) within(members.length, "member", found)(target.member, `${path}/member`);
    },
  };
}

export function checkNames(
  list: readonly { readonly name?: string; readonly id?: string }[],
  path: string,
  what: string,
  found: TableProblem[],
): void {
  const seen = new Set<string>();
  for (const [at, item] of list.entries()) {
    const name = item.name ?? item.id ?? "";
    if (seen.has(name)) found.push({ path: `${path}/${at}`, message: `two ${what} are named ${JSON.stringify(name)}` });
    seen.add(name);
  }
}

function checkNode(node: NodeSpec, path: string, check: Checker): void {
  checkNodeCall(node.call, check.plans, `${path}/call`, check);
  if (node.each !== undefined) check.expression(node.each.list, `${path}/each/list`);
  checkOutput(node.output, `${path}/output`, check);
  for (const [at, goal] of (node.goes ?? []).entries()) check.target({ node: goal }, `${path}/goes/${at}`);
  if (node.waits !== undefined) check.barrier(node.waits, `${path}/waits`);
  checkRoutes(node.routes, `${path}/routes`, check);
  for (const [at, route] of node.onError.entries()) {
    if (typeof route.condition === "number") check.expression(route.condition, `${path}/onError/${at}/condition`);
    checkTargets(route.targets, `${path}/onError/${at}/targets`, check);
  }
}

export function checkOutput(output: OutputSpec | undefined, path: string, check: PartChecker): void {
  if (output?.kind === "channel") check.channel(output.channel, `${path}/channel`);
  if (output?.kind !== "fields") return;
  for (const [at, { channel }] of output.fields.entries()) check.channel(channel, `${path}/fields/${at}`);
}

/** The call of a node or task, which may be one of a plan. */
export function checkNodeCall(call: NodeSpec["call"], plans: number, path: string, check: PartChecker): void {
  if (call.kind !== "plan") return checkCall(call, path, check);
  within(plans, "plan", check.found)(call.plan, `${path}/plan`);
  for (const [at, argument] of call.args.entries()) check.expression(argument.expression, `${path}/args/${at}`);
}

export function checkCall(call: CallSpec, path: string, check: PartChecker): void {
  if (call.kind === "function") {
    check.function(call.function, `${path}/function`);
    for (const [at, argument] of call.args.entries()) check.expression(argument, `${path}/args/${at}`);
  } else if (call.kind === "expression") check.expression(call.expression, `${path}/expression`);
  else {
    if (call.kind === "graph") check.graph(call.graph, `${path}/graph`);
    for (const [at, argument] of call.args.entries()) check.expression(argument.expression, `${path}/args/${at}`);
  }
}

function checkRoutes(routes: readonly RouteSpec[], path: string, check: Checker): void {
  for (const [at, route] of routes.entries()) {
    const place = `${path}/${at}`;
    if (route.kind === "when") check.expression(route.condition, `${place}/condition`);
    if (route.kind !== "match" && route.kind !== "cases") {
      checkTargets(route.targets, `${place}/targets`, check);
      continue;
    }
    if (route.kind === "match") check.expression(route.subject, `${place}/subject`);
    for (const [arm, spec] of route.arms.entries()) {
      if ("condition" in spec) check.expression(spec.condition, `${place}/arms/${arm}/condition`);
      checkTargets(spec.targets, `${place}/arms/${arm}/targets`, check);
    }
    checkTargets(route.otherwise ?? [], `${place}/otherwise`, check);
  }
}

function checkTargets(targets: readonly TargetSpec[], path: string, check: Checker): void {
  for (const [at, target] of targets.entries()) check.target(target, `${path}/${at}`);
}

function checkExpression(expression: Expression, path: string, check: PartChecker): void {
  if (expressionDepth(expression) > MAX_EXPRESSION_DEPTH) {
    check.found.push({ path, message: `the expression nests deeper than ${MAX_EXPRESSION_DEPTH}` });
    return;
  }
  const open = [expression];
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    if (part.op === "channel") check.channel(part.channel, path);
    if (part.op === "call") check.function(part.function, path);
    open.push(...expressionParts(part));
  }
}

function checkType(type: ValueType, path: string, known: ReadonlySet<string>, found: TableProblem[]): void {
  const open = [type];
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    if (part.kind === "ref") {
      if (!known.has(part.name)) found.push({ path, message: `there is no type ${part.name}` });
    } else if (part.kind === "list") open.push(part.item);
    else if (part.kind === "map") open.push(part.value);
    else if (part.kind === "record") open.push(...part.fields.map((field) => field.type));
    else if (part.kind === "union") open.push(...part.members);
  }
}
