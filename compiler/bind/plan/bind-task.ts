/** Binds one declared task: types its call, condition and checks, once for all values of its matrix. */
import { notSupported } from "../../../diagnostics/catalog/names.ts";
import { literalTask, wrongType } from "../../../diagnostics/catalog/types.ts";
import type * as Ast from "../../../grammar/ast.ts";
import type { Effect } from "../../../runtime/table/table.ts";
import type { ValueType } from "../../../runtime/table/value-type.ts";
import type { BoundCall, TypedExpression } from "../bound-graph.ts";
import type { BoundTask } from "./bound-plan.ts";
import { factsOf, NO_FACTS, type Facts } from "../../expressions/facts.ts";
import type { ExpressionScope } from "../../expressions/scope.ts";
import { typeCondition } from "../../expressions/type-expression.ts";
import { isAssignable } from "../../types/assignable.ts";
import { BOOL, isBroken } from "../../types/construct.ts";
import { typeToText } from "../../types/type-text.ts";
import { bindCall, withMark } from "../bind-call.ts";
import { withCode } from "../bind-nodes.ts";
import { checkDeclared, checkResult, inferResult } from "../check-result.ts";
import { boundOutput, type Write } from "../resolve-writes.ts";
import { placeIn, type GraphContext, type NodeEntry } from "../graph-context.ts";
import { createNames } from "../resolve-names.ts";
import { toTypedExpression } from "../typed-expression.ts";
import type { Unwritten } from "../../control/unwritten.ts";
import { bindValues, type DynamicMatrix } from "./dynamic-matrix.ts";
import type { Matrix } from "./matrix.ts";
import type { TaskPolicies } from "./task-policies.ts";
import type { StatusCondition } from "./task-status.ts";

export interface TaskParts {
  /** The task as a node: its call and its `into`. */
  readonly entry: NodeEntry;
  readonly task: Ast.TaskDecl;
  readonly matrix: Matrix | undefined;
  readonly writes: readonly Write[];
  readonly policies: TaskPolicies;
  /** Its condition, if it has one. */
  readonly status: StatusCondition | undefined;
  readonly unwritten: ReadonlyMap<number, Unwritten>;
  readonly adviceOn: (channel: string) => string | undefined;
}

/** A task before its matrix is multiplied. */
export type TypedTask = Omit<
  BoundTask,
  "name" | "item" | "after" | "statuses" | "touches" | "alone" | "worktree" | "interactive" | "pool"
> & {
  readonly result: ValueType | undefined;
  /** Of a matrix over a list that only a run knows. */
  readonly dynamic?: DynamicMatrix;
};

export function bindTask(parts: TaskParts, context: GraphContext): TypedTask {
  const { entry, task, matrix, writes, policies, status } = parts;
  const reads = new Set<string>();
  const effects = new Set<Effect>();
  const locals = new Map(matrix === undefined || matrix.axes !== undefined ? [] : [[matrix.item, matrix.type]]);
  const scopeAt = (
    unwritten: ReadonlyMap<number, Unwritten>,
    facts: Facts,
    where: ExpressionScope["where"],
  ): ExpressionScope => {
    const flow = { unwritten, facts, error: "never", outcome: "never" } as const;
    const place = { flow, reader: `\`${entry.name}\``, locals, adviceOn: parts.adviceOn };
    return {
      file: context.file,
      types: context.types,
      names: withCode(createNames(place, context), effects),
      report: context.report,
      suggestions: context.suggestions,
      where,
      locals,
      facts,
      reads,
      depth: 0,
    };
  };
  let dynamic: DynamicMatrix | undefined;
  if (matrix?.axes !== undefined) {
    dynamic = bindValues(matrix.item, matrix.axes, scopeAt(parts.unwritten, NO_FACTS, "argument"), context);
    locals.set(matrix.item, dynamic.item);
  }
  let condition: TypedExpression | undefined;
  let facts = NO_FACTS;
  if (status !== undefined) {
    const scope = scopeAt(parts.unwritten, NO_FACTS, "condition");
    const inner = { ...scope, locals: new Map([...locals, ...status.types]) };
    condition = toTypedExpression(typeCondition(status.condition, inner), context);
    facts = factsOf(status.condition, true);
  }
  const {
    call: boundCall,
    result,
    effects: own,
    callee,
    unwritten,
    declared,
  } = bindCall(task.call, scopeAt(parts.unwritten, facts, "argument"), context);
  const isTerminal = policies.interactive === true && boundCall.kind === "builtin";
  const call = isTerminal ? { ...boundCall, args: withMark(boundCall.args, "interactive") } : boundCall;
  for (const effect of own) effects.add(effect);
  if (task.output === undefined) reportLiteral(task.call, context);
  if (call.kind === "builtin" && call.signature.name === "receive") {
    const help = "let the task call a graph that receives the signal";
    context.report(notSupported(placeIn(context, task.call.span), { what: "a task that receives signals is", help }));
  }
  const type = result === "infer" ? inferResult(writes, false) : result;
  if (type !== undefined && result !== "infer") {
    checkResult(entry.declaration, { type, isChecked: call.kind === "builtin", callee, unwritten }, writes, context);
  }
  checkDeclared(entry.declaration, declared, type, writes, context);
  // A check reads the values that the attempt has written.
  const after = new Map(parts.unwritten);
  for (const { channel } of writes) after.delete(channel.index);
  const checks = policies.checks.map((check) =>
    bindCheck(check, scopeAt(after, NO_FACTS, "argument"), effects, context),
  );
  const output = boundOutput(task.output, writes);
  const { tries, timeout, estimate, cache, idempotent } = policies;
  if (cache?.tools !== undefined) effects.add("shell");
  return {
    declaration: task,
    ...(task.doc === undefined ? {} : { doc: task.doc.text }),
    call,
    ...(task.isFinal === true ? { isFinal: true } : {}),
    trigger: task.trigger,
    ...(condition === undefined ? {} : { condition }),
    ...(output === undefined ? {} : { output }),
    checks,
    ...(tries === undefined ? {} : { tries }),
    ...(timeout === undefined ? {} : { timeout }),
    ...(estimate === undefined ? {} : { estimate }),
    ...(cache === undefined ? {} : { cache }),
    idempotent,
    effects: [...effects].sort(),
    reads: [...reads],
    writes: [...new Set(writes.map(({ channel }) => channel.name))],
    result: type,
    ...(dynamic === undefined ? {} : { dynamic }),
  };
}

/** NG508: `task test = "npm test"`. A value that only orders other tasks, `task ready = true after a, b`, is allowed. */
function reportLiteral(syntax: Ast.Expr, context: GraphContext): void {
  const what = LITERALS[syntax.kind];
  if (what === undefined) return;
  const isText = syntax.kind === "String" || syntax.kind === "Template";
  const text = context.file.text.slice(syntax.span.start, syntax.span.end);
  const isShort = isText && text.length <= 60 && !text.includes("\n");
  const command = isShort ? `shell(${text})` : undefined;
  context.report(literalTask(placeIn(context, syntax.span), { what, command }));
}

const LITERALS: Readonly<Partial<Record<Ast.Expr["kind"], string>>> = {
  String: "a text",
  Template: "a text",
  Number: "a number",
  DurationLiteral: "a duration",
  List: "a list",
  Record: "a record",
};

/** A call passes if it does not fail and does not return `false`; an expression must be a bool. */
function bindCheck(check: Ast.Expr, scope: ExpressionScope, effects: Set<Effect>, context: GraphContext): BoundCall {
  const { call, effects: own, result } = bindCall(check, scope, context);
  for (const effect of own) effects.add(effect);
  if (call.kind === "plan") {
    const help = "let a task of its own call the plan, and come after it";
    context.report(notSupported(placeIn(context, check.span), { what: "a plan as a check is", help }));
    return { kind: "broken" };
  }
  if (call.kind === "expression" && result !== undefined && result !== "infer" && !isBroken(result)) {
    if (isAssignable(result, BOOL, context.types) !== undefined) {
      const facts = {
        message: "`done when` takes a call or a bool",
        label: `this is \`${typeToText(result)}\``,
        help: "call something that fails when the task is not done, or compare: `done when score > 0.8`",
      };
      context.report(wrongType(placeIn(context, check.span), facts));
    }
  }
  return call;
}
