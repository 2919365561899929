/**
 * Checks of a bound plan: what keeps tasks apart that could run together (NG705), and what graphs are checked for as well, secrets,
 * model output that is carried out, and the policies of calls.
 */
import { neverBeside } from "../../diagnostics/catalog/plans.ts";
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import type * as Ast from "../../grammar/ast.ts";
import { parsePathPattern, patternsOverlap, type PathPattern } from "../../runtime/plan/path-pattern.ts";
import { START, type BoundCall, type BoundEdge, type BoundGraph, type BoundNode } from "../bound-graph.ts";
import type { BoundPlan, BoundTask } from "../bound-plan.ts";
import { createCheckContext } from "./check-context.ts";
import { checkModelOutput } from "./check-model-output.ts";
import { checkPolicies } from "./check-policies.ts";
import { checkSecrets } from "./check-secrets.ts";

/** Tasks of a plan whose pairs are looked at. */
const MOST_TASKS = 500;

/** What is wrong with a plan beyond what binding it reported. Never throws. */
export function checkPlan(plan: BoundPlan): readonly Diagnostic[] {
  const found: Diagnostic[] = [];
  const graph = asGraph(plan);
  const context = createCheckContext(
    graph,
    // A plan says itself what a failure means: no task has to handle one.
    (diagnostic) => void (diagnostic.code === "NG607" ? undefined : found.push(diagnostic)),
    () => undefined,
  );
  checkSecrets(context);
  if (plan.hasErrors) return found;
  checkPolicies(context);
  checkModelOutput(context);
  if (plan.tasks.length <= MOST_TASKS && plan.maxParallel > 1) reportNeverBeside(plan, found);
  return found;
}

/** NG705, for tasks that could run beside some other one as far as their order goes. */
function reportNeverBeside(plan: BoundPlan, found: Diagnostic[]): void {
  const { tasks } = plan;
  if (!tasks.some((task) => task.touches.length > 0)) return;
  const before = ancestorsOf(tasks);
  const patterns = tasks.map((task) =>
    task.touches.map(({ path, mode }) => ({ pattern: parsePathPattern(path), mode })),
  );
  const told = new Set<Ast.TaskDecl>();
  for (const [index, task] of tasks.entries()) {
    if (task.alone || task.touches.length === 0 || told.has(task.declaration)) continue;
    const others = tasks.flatMap((other, at) =>
      at === index || other.alone || before[index]?.has(at) === true || before[at]?.has(index) === true
        ? []
        : [{ name: other.name, at }],
    );
    // Two tasks over one path are the common case, and meant: only what keeps out several is worth a word.
    if (others.length < 2) continue;
    if (!others.every(({ at }) => conflict(patterns[index] ?? [], patterns[at] ?? []))) continue;
    told.add(task.declaration);
    const place = { file: plan.file, span: task.touches[0]?.span ?? task.declaration.name.span };
    found.push(neverBeside(place, { task: task.name, others: others.map(({ name }) => name) }));
  }
}

function ancestorsOf(tasks: readonly BoundTask[]): readonly ReadonlySet<number>[] {
  const before: Set<number>[] = tasks.map(() => new Set());
  const done = new Uint8Array(tasks.length);
  for (let root = 0; root < tasks.length; root++) {
    const open = [root];
    for (let task = open.at(-1); task !== undefined; task = open.at(-1)) {
      const after = tasks[task]?.after ?? [];
      const missing = done[task] === 1 ? [] : after.filter((index) => done[index] !== 1);
      if (missing.length > 0) {
        open.push(...missing);
        continue;
      }
      open.pop();
      done[task] = 1;
      for (const index of after) {
        before[task]?.add(index);
        for (const ancestor of before[index] ?? []) before[task]?.add(ancestor);
      }
    }
  }
  return before;
}

interface Touched {
  readonly pattern: PathPattern;
  readonly mode: "read" | "write";
}

function conflict(a: readonly Touched[], b: readonly Touched[]): boolean {
  return a.some((one) =>
    b.some((other) => (one.mode === "write" || other.mode === "write") && patternsOverlap(one.pattern, other.pattern)),
  );
}

/**
 * A plan as a graph of the same control, for checks that ask what calls are made and what they are given: dependencies are barriers, and
 * each check is a node behind its task. Tasks with checks have no tries here, since to be repeated is what they are for.
 */
function asGraph(plan: BoundPlan): BoundGraph {
  const nodes: BoundNode[] = [];
  const edges: BoundEdge[] = [];
  const statements: Ast.Statement[] = plan.declaration.statements.flatMap((statement): Ast.Statement[] => {
    if (statement.kind === "Channel") return [statement];
    if (statement.kind !== "Task") return [];
    const checks = statement.policies.flatMap((policy) => (policy.kind === "DoneWhen" ? [policy.check] : []));
    return [asNode(statement, statement.call), ...checks.map((check) => asNode(statement, check))];
  });
  for (const task of plan.tasks) {
    const { declaration, name, tries, timeout, output, idempotent } = task;
    const call: BoundCall = task.call.kind === "plan" ? { kind: "broken" } : task.call;
    const rest = {
      ...(timeout === undefined ? {} : { timeout }),
      pauseBefore: false,
      pauseAfter: false,
      idempotent,
      effects: task.effects,
    };
    nodes.push({
      ...rest,
      declaration: asNode(declaration, declaration.call),
      name,
      call,
      ...(output === undefined ? {} : { output }),
      ...(tries === undefined || task.checks.length > 0 ? {} : { tries }),
      reads: task.reads,
      writes: task.writes,
    });
    const syntax = task.declaration.policies.flatMap((policy) => (policy.kind === "DoneWhen" ? [policy.check] : []));
    for (const [at, check] of task.checks.entries()) {
      const checkName = `${name} check ${at + 1}`;
      const node = asNode(declaration, syntax[at] ?? declaration.call);
      nodes.push({ ...rest, declaration: node, name: checkName, call: check, reads: [], writes: [] });
      edges.push(edge([name], checkName, declaration));
    }
    if (task.after.length === 0) edges.push(edge([START], name, declaration));
    else
      edges.push(
        edge(
          task.after.map((index) => plan.tasks[index]?.name ?? START),
          name,
          declaration,
        ),
      );
  }
  return {
    file: plan.file,
    declaration: { kind: "Graph", span: plan.declaration.span, name: plan.declaration.name, statements },
    name: plan.name,
    channels: plan.channels,
    nodes,
    edges,
    assertions: [],
    limits: { steps: null, parallel: null },
    functions: plan.functions,
    types: plan.types,
    graphs: plan.graphs,
    secrets: plan.secrets,
    hasErrors: plan.hasErrors,
    poisoned: plan.poisoned,
  };
}

function asNode(task: Ast.TaskDecl, call: Ast.Expr): Ast.NodeDecl {
  const { span, name, output, each, policies } = task;
  return {
    kind: "Node",
    span,
    name,
    call,
    ...(each === undefined ? {} : { each }),
    ...(output === undefined ? {} : { output }),
    policies,
  };
}

function edge(from: readonly string[], to: string, task: Ast.TaskDecl): BoundEdge {
  const { span } = task.name;
  const source = { kind: "NodeList", span, nodes: [] } as const;
  const targets = { kind: "Targets", span, nodes: [], onError: false } as const;
  return {
    span,
    syntax: { kind: "Edge", span, source, chain: [], to: targets },
    source: { kind: "nodes", nodes: from.map((name) => ({ name, span })) },
    onError: false,
    to: { kind: "plain", targets: [{ name: to, span }] },
  };
}
