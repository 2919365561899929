import type * as Ast from "../../../grammar/ast.ts";

/** Whether the tasks behind a task start even if it has failed, without the values that it writes (`allow failure`). */
export function mayFail(task: Ast.TaskDecl | undefined): boolean {
  return task?.policies.some(({ kind }) => kind === "AllowFailure") === true;
}
