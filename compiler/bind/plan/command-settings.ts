/** `cwd`, `env`, `worktree` and `interactive` of a task: they apply to all its commands, the call and the checks. */
import { notSupported } from "../../../diagnostics/catalog/names.ts";
import { policyWithoutEffect } from "../../../diagnostics/catalog/policies.ts";
import type { Span } from "../../../diagnostics/source.ts";
import type { Diagnostic } from "../../../diagnostics/diagnostic.ts";
import type * as Ast from "../../../grammar/ast.ts";
import type { FileScope } from "../file-scope.ts";

const COMMAND = "shell";

/**
 * A task with its `cwd` and `env` as arguments of its commands. What a command states itself stays. Reports a setting of a task without
 * commands, and `worktree` and `interactive` on a task that calls something else.
 */
export function settleCommands(
  task: Ast.TaskDecl,
  scope: FileScope,
  report: (diagnostic: Diagnostic) => void,
): Ast.TaskDecl {
  const settings = new Map<string, { readonly span: Span; readonly value: Ast.Expr }>();
  for (const policy of task.policies) {
    const { span } = policy;
    if (policy.kind === "Cwd" && !settings.has("cwd")) settings.set("cwd", { span, value: policy.path });
    if (policy.kind === "Env" && !settings.has("env")) settings.set("env", { span, value: policy.values });
  }
  const isCommand = (call: Ast.Expr): call is Ast.CallExpr =>
    call.kind === "Call" && call.callee.name === COMMAND && !scope.names.has(COMMAND);
  for (const kind of ["Worktree", "Interactive"] as const) {
    const policy = task.policies.find((each) => each.kind === kind);
    if (policy === undefined || isCommand(task.call)) continue;
    // A function, or a node of a graph, would change the tree of the run, and has no terminal.
    const help = "let the task call `shell`, or state the policy in the tasks of the plan that it calls";
    const what = `\`${kind.toLowerCase()}\` on a task that runs no command is`;
    report(notSupported({ file: scope.file.source, span: policy.span }, { what, help }));
  }
  const isInteractive = task.policies.some(({ kind }) => kind === "Interactive");
  const input = isCommand(task.call) ? task.call.args.find(({ name }) => name?.name === "input") : undefined;
  if (isInteractive && input !== undefined) {
    const help = "a person types what the command reads: remove one of them";
    const what = "`input` of a command that is `interactive` is";
    report(notSupported({ file: scope.file.source, span: input.span }, { what, help }));
  }
  if (settings.size === 0) return task;
  const settled = (call: Ast.Expr): Ast.Expr => {
    if (!isCommand(call)) return call;
    const given = new Set(call.args.map(({ name }) => name?.name));
    const added = [...settings]
      .filter(([name]) => !given.has(name))
      .map(([name, { span, value }]): Ast.Argument => ({
        kind: "Argument",
        span,
        name: { kind: "Identifier", span, name },
        value,
      }));
    return { ...call, args: [...call.args, ...added] };
  };
  const checks = task.policies.flatMap((policy) => (policy.kind === "DoneWhen" ? [policy.check] : []));
  if (![task.call, ...checks].some(isCommand)) {
    for (const [name, { span }] of settings) {
      const message = `\`${name}\` is for commands, and \`${task.name.name}\` has none`;
      const help = "remove it, or pass it to what the task calls";
      report(policyWithoutEffect({ file: scope.file.source, span }, { policy: name, message, help }));
    }
  }
  return {
    ...task,
    call: settled(task.call),
    policies: task.policies.map((policy) =>
      policy.kind === "DoneWhen" ? { ...policy, check: settled(policy.check) } : policy,
    ),
  };
}
