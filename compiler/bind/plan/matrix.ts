/** `for version in ["20", "22"]`: one task for each value, known at compile time. */
import { badMatrix, matrixNotConstant } from "../../../diagnostics/catalog/plans.ts";
import type * as Ast from "../../../grammar/ast.ts";
import type { Json } from "../../../runtime/value/json.ts";
import type { ValueType } from "../../../runtime/table/value-type.ts";
import { canonicalJson } from "../../table/canonical-json.ts";
import { evaluateConstant } from "../../expressions/constant.ts";
import { BROKEN_TYPE } from "../../types/construct.ts";
import { placeIn, type GraphContext } from "../graph-context.ts";

export interface Matrix {
  readonly item: string;
  readonly type: ValueType;
  readonly values: readonly Json[];
}

/** Maximum number of tasks of one declaration. */
const MOST_VALUES = 1000;

/** The values of a task's matrix. Reports invalid values, and returns an empty list for them. */
export function bindMatrix(each: NonNullable<Ast.TaskDecl["each"]>, context: GraphContext): Matrix {
  const item = each.item.name;
  const place = placeIn(context, each.list.span);
  const broken: Matrix = { item, type: BROKEN_TYPE, values: [] };
  const constant = evaluateConstant(each.list);
  if (constant.kind === "broken") return broken;
  if (constant.kind === "computed" || constant.type.kind !== "list" || !Array.isArray(constant.value)) {
    const span = constant.kind === "computed" ? constant.span : each.list.span;
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
  const items = each.list.kind === "List" ? each.list.items : [];
  const seen = new Set<string>();
  for (const [at, value] of values.entries()) {
    const text = canonicalJson(value);
    if (seen.has(text)) {
      const span = items[at]?.span ?? each.list.span;
      const facts = {
        message: `the value ${text} stands twice in a matrix`,
        label: "stands here again",
        help: "remove it",
      };
      context.report(badMatrix(placeIn(context, span), facts));
      return broken;
    }
    seen.add(text);
  }
  return { item, type: type.item, values };
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

/** Names such as `test[20]`: short plain text as it is, other values as JSON; unique within the matrix. */
export function matrixNames(task: string, values: readonly Json[]): readonly string[] {
  const plain = values.map((value) =>
    typeof value === "string" && /^[\w.+-]{1,40}$/.test(value) ? value : shorten(canonicalJson(value)),
  );
  const counts = new Map<string, number>();
  for (const text of plain) counts.set(text, (counts.get(text) ?? 0) + 1);
  return values.map((value, at) => {
    const text = plain[at] ?? "";
    if (counts.get(text) === 1) return `${task}[${text}]`;
    const json = canonicalJson(value);
    return `${task}[${typeof value === "string" && json.length <= 40 ? json : `${text}#${at + 1}`}]`;
  });
}

function shorten(text: string): string {
  return text.length <= 40 ? text : `${text.slice(0, 39)}…`;
}
