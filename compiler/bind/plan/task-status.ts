/** `status(a)` in the `when` of a task: how a task that it comes after has ended. */
import { statusOfTask, unknownDependency } from "../../../diagnostics/catalog/plans.ts";
import { suggest } from "../../../diagnostics/similar.ts";
import type * as Ast from "../../../grammar/ast.ts";
import type { TaskStatusName } from "../../../runtime/table/plan-table.ts";
import type { ValueType } from "../../../runtime/table/value-type.ts";
import { BROKEN_TYPE, literal, unionOf } from "../../types/construct.ts";
import { mapParts } from "../expand-names.ts";
import { isSilenced, placeIn, type GraphContext } from "../graph-context.ts";
import type { Dependencies } from "./dependencies.ts";
import { mayFail } from "./may-fail.ts";

const STATUS = "status";

export interface StatusCondition {
  /** The condition, with a variable for each `status(a)`. */
  readonly condition: Ast.Expr;
  /** The types of these variables. */
  readonly types: ReadonlyMap<string, ValueType>;
  /** By variable: the declared task. */
  readonly tasks: ReadonlyMap<string, number>;
}

/** Replaces each `status(a)` of a condition by a variable. Reports tasks that may not have ended when this one starts. */
export function bindStatus(
  condition: Ast.Expr,
  task: number,
  plan: { readonly tasks: readonly Ast.TaskDecl[]; readonly dependencies: Dependencies },
  context: GraphContext,
): StatusCondition {
  const types = new Map<string, ValueType>();
  const tasks = new Map<string, number>();
  // An import or graph of this name hides the function.
  if (context.scope.names.has(STATUS)) return { condition, types, tasks };
  const replace = (part: Ast.Expr): Ast.Expr => {
    if (part.kind !== "Call" || part.callee.name !== STATUS) return mapParts(part, [], replace);
    const [argument, ...others] = part.args;
    const value = argument?.value;
    const at = value?.kind === "Name" || value?.kind === "Derived" ? value : undefined;
    if (at === undefined || others.length > 0 || argument?.name !== undefined) {
      context.report(
        statusOfTask(placeIn(context, part.span), {
          message: "`status` takes the name of one task",
          label: "expected the name of a task",
          help: 'for example `when status(build) == "failed"`',
        }),
      );
      return { kind: "BrokenExpr", span: part.span };
    }
    const name = `${STATUS}(${at.name})`;
    if (!types.has(name)) types.set(name, typeOf(at, task, plan, tasks, context));
    return { kind: "Name", span: part.span, name };
  };
  return { condition: replace(condition), types, tasks };
}

function typeOf(
  { name, span }: { readonly name: string; readonly span: Ast.Expr["span"] },
  task: number,
  { tasks, dependencies }: { readonly tasks: readonly Ast.TaskDecl[]; readonly dependencies: Dependencies },
  found: Map<string, number>,
  context: GraphContext,
): ValueType {
  const index = tasks.findIndex((each) => each.name.name === name);
  const own = tasks[task]?.name.name ?? "";
  if (index === -1) {
    if (isSilenced(name, context)) return BROKEN_TYPE;
    const { similar, known } = suggest(name, () => tasks.map((each) => each.name.name), context.suggestions);
    const isChannel = context.channels.has(name);
    context.report(unknownDependency(placeIn(context, span), { name, similar, known, isChannel }));
    return BROKEN_TYPE;
  }
  const isDependency = dependencies.after[task]?.includes(index) === true;
  if (!isDependency || dependencies.triggers[task] === "any") {
    context.report(
      statusOfTask(placeIn(context, span), {
        message: `\`${name}\` may not have ended when \`${own}\` starts`,
        label: isDependency ? "`after any` waits for one of the tasks only" : `\`${own}\` does not wait for it`,
        help: `let \`${own}\` wait for its end: \`after done ${name}\``,
      }),
    );
    return BROKEN_TYPE;
  }
  found.set(`${STATUS}(${name})`, index);
  const need = dependencies.needs[task]?.get(index) ?? dependencies.triggers[task];
  return unionOf(possible(need === "all", mayFail(tasks[index])).map((status) => literal(status)));
}

/** The ends of a dependency with which a task starts. */
function possible(mustBeDone: boolean, isAllowedToFail: boolean): readonly TaskStatusName[] {
  if (!mustBeDone) return ["done", "failed", "blocked", "skipped", "cancelled"];
  return isAllowedToFail ? ["done", "failed"] : ["done"];
}
