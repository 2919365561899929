import type * as Ast from "../../../grammar/ast.ts";
import {
  START,
  type BoundCall,
  type BoundEdge,
  type BoundGraph,
  type BoundNode,
  type TypedExpression,
} from "../bound-graph.ts";
import { buildNet } from "../../control/build-net.ts";
import type { BoundPlan, BoundTask } from "./bound-plan.ts";

/**
 * A plan as a graph with the same control flow, for checks of calls and their arguments. Dependencies become barriers,
 * and each check becomes a node after its task. Tasks with checks have no `tries` here, because they are meant to be
 * repeated.
 */
export function planAsGraph(plan: BoundPlan): BoundGraph {
  const nodes: BoundNode[] = [];
  const edges: BoundEdge[] = [];
  const statements: Ast.Statement[] = plan.declaration.statements.flatMap((statement): Ast.Statement[] => {
    if (statement.kind === "Channel") return [statement];
    if (statement.kind !== "Task") return [];
    const checks = statement.policies.flatMap((policy) => (policy.kind === "DoneWhen" ? [policy.check] : []));
    return [asNode(statement, statement.call), ...checks.map((check) => asNode(statement, check))];
  });
  const seen = new Set<Ast.TaskDecl>();
  for (const called of plan.tasks) {
    const task = inMatrix(called);
    // A matrix is one node, so that each finding about it is reported once.
    if (seen.has(task.declaration)) continue;
    seen.add(task.declaration);
    const name = task.declaration.name.name;
    const { declaration, tries, timeout, output, idempotent } = task;
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
    if (task.after.length === 0) edges.push(edge([START], name, declaration, task.condition));
    else {
      const names = task.after.map((index) => plan.tasks[index]?.declaration.name.name ?? START);
      edges.push(edge([...new Set(names)], name, declaration, task.condition));
    }
  }
  return {
    file: plan.file,
    declaration: { kind: "Graph", span: plan.declaration.span, name: plan.declaration.name, statements },
    name: plan.name,
    channels: plan.channels,
    config: plan.config,
    nodes,
    edges,
    control: buildNet({ nodes, edges }),
    assertions: [],
    limits: { steps: null, parallel: null },
    functions: plan.functions,
    ...(plan.signatureOf === undefined ? {} : { signatureOf: plan.signatureOf }),
    ...(plan.mayInterrupt === undefined ? {} : { mayInterrupt: plan.mayInterrupt }),
    types: plan.types,
    typeScriptChecks: plan.typeScriptChecks,
    graphs: plan.graphs,
    secrets: plan.secrets,
    hasErrors: plan.hasErrors,
    poisoned: plan.poisoned,
  };
}

/** A task that calls the plan of its matrix, as if it ran once itself. */
function inMatrix(task: BoundTask): BoundTask {
  const { call } = task;
  const inner = call.kind === "plan" && call.plan.matrix !== undefined ? call.plan.tasks[0] : undefined;
  if (inner === undefined) return task;
  const { after, trigger, condition = inner.condition } = task;
  return { ...inner, after, trigger, ...(condition === undefined ? {} : { condition }) };
}

function asNode(task: Ast.TaskDecl, call: Ast.Expr): Ast.NodeDecl {
  const { span, name, output, each, policies } = task;
  return {
    kind: "Node",
    span,
    name,
    call,
    ...(each === undefined ? {} : { each: { kind: "ForClause", span: each.list.span, ...each } }),
    ...(output === undefined ? {} : { output }),
    policies,
  };
}

function edge(from: readonly string[], to: string, task: Ast.TaskDecl, condition?: TypedExpression): BoundEdge {
  const { span } = task.name;
  const source = { kind: "NodeList", span, nodes: [] } as const;
  const targets = { kind: "Targets", span, nodes: [], onError: false } as const;
  return {
    span,
    syntax: { kind: "Edge", span, source, chain: [], to: targets },
    source: { kind: "nodes", nodes: from.map((name) => ({ name, span })) },
    onError: false,
    to:
      condition === undefined
        ? { kind: "plain", targets: [{ name: to, span }] }
        : { kind: "when", condition, targets: [{ name: to, span }] },
  };
}
