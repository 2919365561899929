import type * as Ast from "../ast.ts";
import { axesOf } from "../matrix-axes.ts";
import { bareList, braced, bracedBlock, join, words, wrap, type Doc } from "./doc-parts.ts";
import { layoutExpression, layoutFor, layoutKey } from "./layout-expression.ts";
import { stringText } from "./literal-text.ts";
import type { SourceView } from "./source-view.ts";

/** The clause of nodes and tasks ` for x, i in xs if x.ok`. */
export function layoutEach(each: Ast.NodeDecl["each"] | Ast.TaskDecl["each"], source: SourceView): Doc {
  if (each === undefined) return "";
  if (!("kind" in each)) return [wrap(), words("for", bareList(axesOf(each).map((axis) => layoutAxis(axis, source))))];
  return [wrap(), join(wrap(), layoutFor(each, source))];
}

/** `v in ["20", "22"]` */
function layoutAxis({ item, list }: Ast.MatrixAxis, source: SourceView): Doc {
  return words(item.name, "in", layoutExpression(list, source));
}

/** ` into notes`, ` into { reply, score: points }`. */
export function layoutOutput(output: Ast.Output | undefined, source: SourceView): Doc {
  if (output === undefined) return "";
  if (output.kind === "ChannelOutput") {
    return [wrap(), words("into", ...(output.set === true ? ["set"] : []), output.channel.name)];
  }
  const fields = output.fields.map(({ field, channel, optional, set }) => {
    const mark = optional === true ? "?" : "";
    const isShort = !field.quoted && field.name === channel.name && set !== true;
    if (isShort) return [channel.name, mark];
    return [layoutKey(field, source), mark, ":", " ", words(...(set === true ? ["set"] : []), channel.name)];
  });
  return [wrap(), words("into", braced(fields, source.hasComment(output.span)))];
}

/** ` { tries 4  timeout 10s }`, or one policy per line. */
export function layoutPolicies(policies: readonly Ast.Policy[], source: SourceView): Doc {
  if (policies.length === 0) return "";
  return [" ", layoutPolicyBlock(policies, source)];
}

export function layoutPolicyBlock(policies: readonly Ast.Policy[], source: SourceView): Doc {
  return bracedBlock(policies.map((policy) => ({ doc: layoutPolicy(policy, source), span: policy.span })));
}

export function names(identifiers: readonly Ast.Identifier[]): Doc {
  return bareList(identifiers.map(({ name }) => name));
}

export function layoutCount(count: Ast.Count): string {
  return String(count.value);
}

function layoutPolicy(policy: Ast.Policy, source: SourceView): Doc {
  switch (policy.kind) {
    case "Tries":
      return words("tries", layoutCount(policy.attempts), ...layoutBackoff(policy.backoff));
    case "Timeout":
      return words("timeout", policy.duration.raw);
    case "Within":
      return words("within", policy.duration.raw);
    case "Cache":
      return words(
        "cache",
        ...(policy.duration === undefined ? [] : ["for", policy.duration.raw]),
        ...(policy.inputs === undefined ? [] : ["inputs", strings(policy.inputs, source)]),
        ...(policy.variables === undefined ? [] : ["variables", strings(policy.variables, source)]),
        ...(policy.tools === undefined ? [] : ["tools", strings(policy.tools, source)]),
      );
    case "MaxParallel":
      return words("max", "parallel", layoutCount(policy.count));
    case "AllowFailure":
      return words("allow", "failure");
    case "Waits":
      return words("waits", names(policy.nodes));
    case "Goes":
      return words("goes", names(policy.nodes));
    case "Was":
      return words("was", names(policy.names));
    case "Pause":
      return words("pause", policy.when);
    case "Idempotent":
      return "idempotent";
    case "Undo":
      return [words("undo", layoutExpression(policy.call, source)), layoutPolicies(policy.policies, source)];
    case "Touches":
      return words("touches", ...(policy.mode === "read" ? ["read"] : []), strings(policy.paths, source));
    case "Alone":
      return "alone";
    case "DoneWhen":
      return words("done", "when", layoutExpression(policy.check, source));
    case "Pool":
      return words("pool", policy.name.name, ...(policy.count === undefined ? [] : [layoutCount(policy.count)]));
    case "Estimate":
      return words("estimate", policy.duration.raw);
    case "Cwd":
      return words("cwd", layoutExpression(policy.path, source));
    case "Env":
      return words("env", layoutExpression(policy.values, source));
    case "Worktree":
      return "worktree";
    case "Outputs":
      return words("outputs", strings(policy.paths, source));
    case "Interactive":
      return "interactive";
  }
}

function layoutBackoff(backoff: { readonly min: Ast.Duration; readonly max?: Ast.Duration } | undefined): Doc[] {
  if (backoff === undefined) return [];
  return ["backoff", backoff.max === undefined ? backoff.min.raw : [backoff.min.raw, "..", backoff.max.raw]];
}

function strings(literals: readonly Ast.StringLiteral[], source: SourceView): Doc {
  return bareList(literals.map((literal) => stringText(literal, source)));
}
