/**
 * `for os in ["linux", "mac"], node in ["20", "22"]`: one task for each combination of values. A list that the run computes makes the
 * tasks when it is known, see `dynamic-matrix.ts`.
 */
import { badMatrix } from "../../../diagnostics/catalog/plans.ts";
import type * as Ast from "../../../grammar/ast.ts";
import { axesOf } from "../../../grammar/matrix-axes.ts";
import { MOST_VALUES, textsOf } from "../../../runtime/plan/matrix-names.ts";
import type { Json } from "../../../runtime/value/json.ts";
import type { ValueType } from "../../../runtime/table/value-type.ts";
import { canonicalJson } from "../../table/canonical-json.ts";
import { evaluateConstant } from "../../expressions/constant.ts";
import { BROKEN_TYPE, recordOf } from "../../types/construct.ts";
import { replaceNames } from "../expand-names.ts";
import { placeIn, type GraphContext } from "../graph-context.ts";

export interface Matrix {
  /** The variable of its expressions. With several axes it is a record of their values, see `readAxes`. */
  readonly item: string;
  readonly type: ValueType;
  readonly values: readonly Json[];
  /** By value: the text in the name of its task. */
  readonly texts: readonly string[];
  /** The variables, if only a run knows their values: `type`, `values` and `texts` are empty. */
  readonly axes?: readonly Ast.MatrixAxis[];
}

interface Axis {
  readonly name: string;
  readonly type: ValueType;
  readonly values: readonly Json[];
}

/** The values of a task's matrix. Reports invalid values, and returns an empty list for them. */
export function bindMatrix(matrix: Ast.Matrix, context: GraphContext): Matrix {
  const isComputed = axesOf(matrix).some(({ list }) => !isKnown(list));
  const axes = isComputed ? [] : axesOf(matrix).map((axis) => bindAxis(axis, context));
  const seen = new Set<string>();
  for (const { item } of axesOf(matrix)) {
    if (seen.has(item.name)) {
      const facts = {
        message: `the variable \`${item.name}\` is declared twice in a matrix`,
        label: "second declaration",
        help: "rename one of them",
      };
      context.report(badMatrix(placeIn(context, item.span), facts));
    }
    seen.add(item.name);
  }
  if (isComputed) return { item: variableOf(matrix), type: BROKEN_TYPE, values: [], texts: [], axes: axesOf(matrix) };
  const size = axes.reduce((product, { values }) => product * values.length, 1);
  if (size > MOST_VALUES) {
    const last = axesOf(matrix).at(-1)?.list.span ?? matrix.list.span;
    const message = `a matrix has at most ${MOST_VALUES} values`;
    context.report(badMatrix(placeIn(context, last), { message, label: `these are ${size}` }));
  }
  const [first, ...others] = axes;
  if (first === undefined || size > MOST_VALUES || size === 0) {
    const type = others.length === 0 ? BROKEN_TYPE : recordOf(axes.map(({ name }) => ({ name, type: BROKEN_TYPE })));
    return { item: variableOf(matrix), type, values: [], texts: [] };
  }
  if (others.length === 0)
    return { item: first.name, type: first.type, values: first.values, texts: textsOf(first.values) };
  let combinations: { readonly value: Record<string, Json>; readonly text: string }[] = [{ value: {}, text: "" }];
  for (const { name, values } of axes) {
    const texts = textsOf(values);
    combinations = combinations.flatMap((before) =>
      values.map((value, at) => ({
        value: { ...before.value, [name]: value },
        text: [before.text, texts[at] ?? ""].filter((text) => text !== "").join(","),
      })),
    );
  }
  return {
    item: variableOf(matrix),
    type: recordOf(axes.map(({ name, type }) => ({ name, type }))),
    values: combinations.map(({ value }) => value),
    texts: combinations.map(({ text }) => text),
  };
}

/** The name of a matrix's variable in the table: it is no name of the language if the matrix has several axes. */
function variableOf(matrix: Ast.Matrix): string {
  return axesOf(matrix)
    .map(({ item }) => item.name)
    .join(", ");
}

/** A task whose expressions read the variables of several axes as fields of one record. */
export function readAxes(task: Ast.TaskDecl): Ast.TaskDecl {
  const { each } = task;
  if (each?.others === undefined) return task;
  const names = new Set(axesOf(each).map(({ item }) => item.name));
  const variable = variableOf(each);
  const read = (expression: Ast.Expr): Ast.Expr =>
    replaceNames(expression, [], ({ name, span }, variables) => {
      if (!names.has(name) || variables.includes(name)) return undefined;
      const object = { kind: "Name", span, name: variable } as const;
      return { kind: "Member", span, object, property: { kind: "Identifier", span, name }, optional: false };
    });
  return {
    ...task,
    call: read(task.call),
    ...(task.condition === undefined ? {} : { condition: read(task.condition) }),
    policies: task.policies.map((policy) =>
      policy.kind === "DoneWhen" ? { ...policy, check: read(policy.check) } : policy,
    ),
  };
}

/** A constant list. Another expression is typed with the task, which reports what is no list. */
function isKnown(list: Ast.Expr): boolean {
  const constant = evaluateConstant(list);
  return constant.kind === "broken" || (constant.kind === "constant" && Array.isArray(constant.value));
}

/** The values of one variable. Reports invalid values, and returns an empty list for them. */
function bindAxis({ item: { name }, list }: Ast.MatrixAxis, context: GraphContext): Axis {
  const place = placeIn(context, list.span);
  const broken: Axis = { name, type: BROKEN_TYPE, values: [] };
  const constant = evaluateConstant(list);
  if (constant.kind === "broken") return broken;
  if (constant.kind === "computed" || constant.type.kind !== "list" || !Array.isArray(constant.value)) return broken;
  const values: readonly Json[] = constant.value;
  const { type } = constant;
  if (values.length === 0) {
    const facts = {
      message: "a matrix has at least one value",
      label: "there would be no task",
      help: "remove the task",
    };
    context.report(badMatrix(place, facts));
    return broken;
  }
  if (values.length > MOST_VALUES) {
    const message = `a matrix has at most ${MOST_VALUES} values`;
    context.report(badMatrix(place, { message, label: `these are ${values.length}` }));
    return broken;
  }
  const items = list.kind === "List" ? list.items : [];
  const seen = new Set<string>();
  for (const [at, value] of values.entries()) {
    const text = canonicalJson(value);
    if (seen.has(text)) {
      const span = items[at]?.span ?? list.span;
      const facts = {
        message: `a matrix contains the value ${text} twice`,
        label: "second occurrence",
        help: "remove it: each value makes one task",
      };
      context.report(badMatrix(placeIn(context, span), facts));
      return broken;
    }
    seen.add(text);
  }
  return { name, type: type.item, values };
}

/** The number of tasks that a declared task becomes. A matrix over a computed list is one task, which calls a plan. */
export function sizeOf(matrix: Matrix | undefined): number {
  return matrix === undefined || matrix.axes !== undefined ? 1 : matrix.values.length;
}

/** Dependencies of a plan with its matrices multiplied: each of one matrix comes after each of another. */
const MOST_DEPENDENCIES = 1_000_000;

/**
 * Whether the matrices of a plan can be multiplied; reports the first task whose dependencies are too many.
 *
 * @param after by declared task: those that it comes after
 */
export function checkSize(
  tasks: readonly Ast.TaskDecl[],
  matrices: readonly (Matrix | undefined)[],
  after: readonly (readonly number[])[],
  context: GraphContext,
): boolean {
  const sizes = matrices.map(sizeOf);
  let total = 0;
  for (const [index, task] of tasks.entries()) {
    total += (sizes[index] ?? 1) * (after[index] ?? []).reduce((sum, before) => sum + (sizes[before] ?? 1), 0);
    if (total <= MOST_DEPENDENCIES) continue;
    context.report(
      badMatrix(placeIn(context, task.after[0]?.span ?? task.name.span), {
        message: `a plan has at most ${MOST_DEPENDENCIES.toLocaleString("en-US")} dependencies, each task of a matrix counted`,
        label: "here they become more",
        help: "put one task between two large matrices: all of one come before it, all of the other after it",
      }),
    );
    return false;
  }
  return true;
}
