/** `for os in ["linux", "mac"], node in ["20", "22"]`: one task for each combination of values, known at compile time. */
import { badMatrix, matrixNotConstant } from "../../../diagnostics/catalog/plans.ts";
import type * as Ast from "../../../grammar/ast.ts";
import { axesOf } from "../../../grammar/matrix-axes.ts";
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
}

interface Axis {
  readonly name: string;
  readonly type: ValueType;
  readonly values: readonly Json[];
}

/** Maximum number of tasks of one declaration. */
const MOST_VALUES = 1000;

/** The values of a task's matrix. Reports invalid values, and returns an empty list for them. */
export function bindMatrix(matrix: Ast.Matrix, context: GraphContext): Matrix {
  const axes = axesOf(matrix).map((axis) => bindAxis(axis, context));
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

/** The values of one variable. Reports invalid values, and returns an empty list for them. */
function bindAxis({ item: { name }, list }: Ast.MatrixAxis, context: GraphContext): Axis {
  const place = placeIn(context, list.span);
  const broken: Axis = { name, type: BROKEN_TYPE, values: [] };
  const constant = evaluateConstant(list);
  if (constant.kind === "broken") return broken;
  if (constant.kind === "computed" || constant.type.kind !== "list" || !Array.isArray(constant.value)) {
    const span = constant.kind === "computed" ? constant.span : list.span;
    context.report(matrixNotConstant(placeIn(context, span)));
    return broken;
  }
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
  const sizeOf = (task: number): number => matrices[task]?.values.length ?? 1;
  let total = 0;
  for (const [index, task] of tasks.entries()) {
    total += sizeOf(index) * (after[index] ?? []).reduce((sum, before) => sum + sizeOf(before), 0);
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

/** The texts of values in names such as `test[20]`: short plain text as it is, other values as JSON; all are different. */
function textsOf(values: readonly Json[]): readonly string[] {
  const plain = values.map((value) =>
    typeof value === "string" && /^[\w.+-]{1,40}$/.test(value) ? value : shorten(canonicalJson(value)),
  );
  const counts = new Map<string, number>();
  for (const text of plain) counts.set(text, (counts.get(text) ?? 0) + 1);
  return values.map((value, at) => {
    const text = plain[at] ?? "";
    if (counts.get(text) === 1) return text;
    const json = canonicalJson(value);
    return typeof value === "string" && json.length <= 40 ? json : `${text}#${at + 1}`;
  });
}

function shorten(text: string): string {
  return text.length <= 40 ? text : `${text.slice(0, 39)}…`;
}
