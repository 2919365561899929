/**
 * A matrix over a list that only a run knows, `task deploy = … for region in regions`. Its task calls a plan of one task, which runs
 * once for each value (`PlanTable.matrix`): so the values may come from an input or from a finished task, and the tasks hold paths,
 * pools and slots like all others.
 */
import { notSupported } from "../../../diagnostics/catalog/names.ts";
import type { Expression } from "../../../runtime/expression/expression.ts";
import { expressionParts } from "../../../runtime/expression/expression-depth.ts";
import { mergesById, type BoundChannel, type BoundConfig, type TypedExpression } from "../bound-graph.ts";
import type * as Ast from "../../../grammar/ast.ts";
import type { ExpressionScope } from "../../expressions/scope.ts";
import { typeFor } from "../../expressions/type-expression.ts";
import { BROKEN_TYPE, listOf, nullable, recordOf } from "../../types/construct.ts";
import type { Write } from "../resolve-writes.ts";
import { toTypedExpression } from "../typed-expression.ts";
import { placeIn, type GraphContext } from "../graph-context.ts";
import type { BoundPlan, BoundTask } from "./bound-plan.ts";

/** The values of a matrix that only a run knows. */
export interface DynamicMatrix {
  readonly variable: string;
  readonly list: TypedExpression;
  readonly item: BoundChannel["type"];
}

/** The name of the input with the values. It is no name of the language, so no channel has it. */
const VALUES = "for";

/** Types the values of a matrix: the list of its one variable, or a list of records of all variables. */
export function bindValues(
  variable: string,
  axes: readonly Ast.MatrixAxis[],
  scope: ExpressionScope,
  context: GraphContext,
): DynamicMatrix {
  const typed = axes.map(({ item, list }) =>
    typeFor({ kind: "ForClause", span: list.span, item, list }, "a matrix goes over a list", scope),
  );
  const [first] = typed;
  if (first === undefined) throw new TypeError("a matrix has a variable");
  if (typed.length === 1) return { variable, list: toTypedExpression(first.list, context), item: first.item };
  const item = recordOf(axes.map(({ item: { name } }, at) => ({ name, type: typed[at]?.item ?? BROKEN_TYPE })));
  let expression: Expression = {
    op: "record",
    fields: axes.map(({ item: { name } }) => ({ name, value: { op: "local", name } })),
  };
  for (let at = axes.length - 1; at >= 0; at--) {
    const list: Expression = typed[at]?.list.expression ?? expression;
    const flat = at < axes.length - 1 ? { flat: true as const } : {};
    expression = { op: "comprehension", list, item: axes[at]?.item.name ?? "", ...flat, value: expression };
  }
  return { variable, list: toTypedExpression({ ...first.list, expression, type: listOf(item) }, context), item };
}

/** Reports what the tasks of a matrix cannot write if only the run knows how many they are. */
export function checkDynamicWrites(
  writes: readonly Write[],
  channels: readonly BoundChannel[],
  context: GraphContext,
): void {
  for (const { channel, span } of writes) {
    const bound = channels.find(({ name }) => name === channel.name);
    if (bound?.reducer === undefined) continue;
    const { kind } = bound.reducer;
    const what =
      kind === "function"
        ? "an imported reducer"
        : kind === "last"
          ? "`reduce last`"
          : mergesById(bound)
            ? "`reduce merge` by id"
            : undefined;
    if (what === undefined) continue;
    context.report(
      notSupported(placeIn(context, span), {
        what: `${what} on the results of a matrix over a computed list is`,
        help: "collect them with `reduce append`, and combine them in a task that comes after",
      }),
    );
  }
}

/** Reports what one task for each value cannot do before the values are known. */
export function checkDynamicTask(
  task: BoundTask,
  matrix: DynamicMatrix,
  outer: OuterPlan,
  context: GraphContext,
): void {
  const { condition, statuses, declaration } = task;
  if (condition !== undefined && statuses !== undefined && readsItem(task, matrix)) {
    context.report(
      notSupported(placeIn(context, condition.span), {
        what: "a condition on both `status(…)` and a value of a computed matrix is",
        help: "let a task before it, `when status(…)`, compute the list",
      }),
    );
  }
  const written = new Set(task.writes);
  for (const at of channelsRead(task)) {
    const channel = outer.channels[at];
    if (channel === undefined || !written.has(channel.name)) continue;
    context.report(
      notSupported(placeIn(context, declaration.output?.span ?? declaration.span), {
        what: `to read \`${channel.name}\` in the tasks of a computed matrix that write it is`,
        help: "write another channel, and combine both in a task that comes after",
      }),
    );
  }
}

/** What a plan has before its tasks are multiplied. */
export type OuterPlan = Omit<
  BoundPlan,
  "tasks" | "plans" | "graphs" | "hasErrors" | "poisoned" | "typeScriptChecks" | "types"
>;

/**
 * The task that calls the plan, and the plan.
 *
 * @param task the task as if it ran for one value
 * @param outer the plan that declares the task; its channels are those that the expressions mean
 */
export function callMatrix(
  task: BoundTask,
  matrix: DynamicMatrix,
  outer: OuterPlan & Pick<BoundPlan, "types">,
  called: Pick<BoundPlan, "graphs" | "plans">,
): BoundTask {
  const { declaration } = outer;
  const { name, span } = task.declaration.name;
  const { condition, statuses, after, trigger, needs, isFinal, ...body } = task;
  const isInner = readsItem(task, matrix);
  const template: BoundTask = {
    ...body,
    name,
    item: { name: matrix.variable, value: null },
    after: [],
    trigger: "all",
    ...(isInner ? { condition } : {}),
  };
  const read = channelsRead(template);
  const written = new Set(task.writes);
  const numbers = outer.channels.flatMap(({ name: channel }, at) => (read.has(at) || written.has(channel) ? [at] : []));
  const captured = numbers.flatMap((at) => {
    const channel = outer.channels[at];
    return channel === undefined || written.has(channel.name) || channel.role === "config" ? [] : [{ at, channel }];
  });
  const values: BoundChannel = {
    declaration: {
      kind: "Channel",
      span,
      role: "input",
      name: { kind: "Identifier", span, name: VALUES },
      type: { kind: "BrokenType", span },
    },
    name: VALUES,
    role: "input",
    type: listOf(matrix.item),
  };
  const channels = numbers.flatMap((at): readonly BoundChannel[] => {
    const channel = outer.channels[at];
    if (channel === undefined || channel.role === "config") return channel === undefined ? [] : [channel];
    const { initial: _initial, mayEndNull: _mayEndNull, reducer, ...rest } = channel;
    if (!written.has(channel.name)) return [{ ...rest, role: "input", type: nullable(channel.type) }];
    return [{ ...rest, role: "output", mayEndNull: true, ...(reducer === undefined ? {} : { reducer }) }];
  });
  const plan: BoundPlan = {
    ...outer,
    declaration: { ...declaration, name: task.declaration.name },
    name: `${name}[${matrix.variable}]`,
    channels: [values, ...channels],
    numbers: [-1, ...numbers],
    config: configOf(outer.config, new Set(channels.map((channel) => channel.name)), called),
    tasks: [template],
    matrix: { owner: outer.name },
    typeScriptChecks: [],
    graphs: called.graphs,
    plans: called.plans,
    hasErrors: false,
    poisoned: new Set(),
  };
  const valueOf = (expression: Expression, type: BoundChannel["type"]): TypedExpression => ({
    ...matrix.list,
    expression,
    type,
    reads: [],
  });
  return {
    declaration: task.declaration,
    ...(task.doc === undefined ? {} : { doc: task.doc }),
    name,
    call: {
      kind: "plan",
      plan,
      args: [
        { name: VALUES, value: matrix.list },
        ...captured.map(({ at, channel }) => ({
          name: channel.name,
          value: valueOf({ op: "channel", channel: at }, nullable(channel.type)),
        })),
      ],
    },
    after,
    trigger,
    ...(needs === undefined ? {} : { needs }),
    ...(isFinal === undefined ? {} : { isFinal }),
    ...(condition === undefined || isInner ? {} : { condition }),
    ...(statuses === undefined ? {} : { statuses }),
    ...(written.size === 0
      ? {}
      : {
          output: {
            kind: "fields",
            fields: [...written].map((channel) => ({ field: channel, channel, optional: true as const })),
          },
        }),
    checks: [],
    touches: [],
    alone: false,
    idempotent: task.idempotent,
    effects: task.effects,
    reads: task.reads,
    writes: task.writes,
  };
}

/** The configuration that the task reads, or that what it calls needs. */
function configOf(
  config: readonly BoundConfig[],
  own: ReadonlySet<string>,
  { graphs, plans }: Pick<BoundPlan, "graphs" | "plans">,
): readonly BoundConfig[] {
  const needed = new Set([...graphs, ...plans].flatMap((called) => called.config.map(({ channel }) => channel.name)));
  return config.filter(({ channel }) => own.has(channel.name) || needed.has(channel.name));
}

/** Indexes of the channels that the expressions of a task read. */
function channelsRead({ call, checks, condition }: BoundTask): ReadonlySet<number> {
  const found = new Set<number>();
  const roots = [call, ...checks].flatMap((each): readonly TypedExpression[] => {
    if (each.kind === "broken") return [];
    if (each.kind === "expression") return [each.expression];
    return each.args.map((arg) => ("value" in arg ? arg.value : arg));
  });
  for (const part of partsOf([...roots, ...(condition === undefined ? [] : [condition])])) {
    if (part.op === "channel") found.add(part.channel);
  }
  return found;
}

/** Whether the condition of a task reads the variable of its matrix. It then decides about each value. */
function readsItem({ condition }: BoundTask, { variable }: DynamicMatrix): boolean {
  if (condition === undefined) return false;
  for (const part of partsOf([condition])) if (part.op === "local" && part.name === variable) return true;
  return false;
}

function* partsOf(roots: readonly { readonly expression: Expression }[]): Generator<Expression> {
  const open = roots.map(({ expression }) => expression);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    yield next;
    for (const part of expressionParts(next)) open.push(part);
  }
}
