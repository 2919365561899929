/** Binds the policies of tasks. Reports and omits repeated, impossible and misplaced policies. */
import { notSupported, statedTwice } from "../../../diagnostics/catalog/names.ts";
import { policyOfGraphs, touchEscapesRoot, unknownPool } from "../../../diagnostics/catalog/plans.ts";
import { illegalPolicyValue, policyWithoutEffect } from "../../../diagnostics/catalog/policies.ts";
import type { Span } from "../../../diagnostics/source.ts";
import { suggest } from "../../../diagnostics/similar.ts";
import type * as Ast from "../../../grammar/ast.ts";
import { normalizePath, PathEscapesRoot } from "../../../runtime/plan/path-pattern.ts";
import type { BoundPlan, BoundTask, BoundTouch } from "./bound-plan.ts";
import { bindTries, nameOf, reportZero, withoutRepeated } from "../bind-policies.ts";
import { placeIn, type GraphContext } from "../graph-context.ts";

export type TaskPolicies = Pick<
  BoundTask,
  | "touches"
  | "alone"
  | "allowFailure"
  | "pool"
  | "tries"
  | "timeout"
  | "estimate"
  | "cache"
  | "idempotent"
  | "worktree"
  | "interactive"
> & {
  /** `done when`, as written. */
  readonly checks: readonly Ast.Expr[];
};
type Draft = { -readonly [Key in keyof TaskPolicies]: TaskPolicies[Key] };

export function bindTaskPolicies(task: Ast.TaskDecl, pools: BoundPlan["pools"], context: GraphContext): TaskPolicies {
  const bound: Draft = { touches: [], alone: false, idempotent: false, checks: [] };
  const outputs: OutputsPolicy[] = [];
  for (const policy of withoutRepeated(task.policies, context, REPEATABLE)) {
    if (policy.kind === "Outputs") outputs.push(policy);
    else bindPolicy(policy, bound, pools, context);
  }
  bindOutputs(task, outputs, bound, context);
  return bound;
}

const REPEATABLE: ReadonlySet<Ast.Policy["kind"]> = new Set(["Touches", "DoneWhen", "Outputs"]);

type OutputsPolicy = Extract<Ast.Policy, { readonly kind: "Outputs" }>;

/** Outputs are files that the task writes, so they are among its `touches`. */
function bindOutputs(
  task: Ast.TaskDecl,
  policies: readonly OutputsPolicy[],
  bound: Draft,
  context: GraphContext,
): void {
  const [first] = policies;
  if (first === undefined) return;
  const found = new Map<string, Span>();
  for (const { value, span } of policies.flatMap(({ paths }) => paths)) {
    let path: string;
    try {
      path = normalizePath(value);
    } catch (error) {
      if (!(error instanceof PathEscapesRoot)) throw error;
      const message = `\`${value}\` is outside of the root, and the cache stores only files below it`;
      context.report(illegalPolicyValue(placeIn(context, span), { message, label: "leads outside" }));
      continue;
    }
    if (path === "." || path.split("/")[0] === "**") {
      const message = `\`${value}\` names all files of the tree, sources included`;
      const help = 'name the folders that the task writes: `outputs "dist/**"`';
      context.report(illegalPolicyValue(placeIn(context, span), { message, label: "too wide", help }));
    } else if (found.has(path)) {
      const facts = { what: `the path \`${path}\``, first: placeIn(context, found.get(path)!) };
      context.report(statedTwice(placeIn(context, span), facts));
    } else found.set(path, span);
  }
  const written = new Set(bound.touches.filter(({ mode }) => mode === "write").map(({ path }) => path));
  const added = [...found].filter(([path]) => !written.has(path));
  bound.touches = [...bound.touches, ...added.map(([path, span]) => ({ path, mode: "write" as const, span }))];
  if (bound.cache !== undefined) bound.cache = { ...bound.cache, outputs: [...found.keys()] };
  else if (!task.policies.some(({ kind }) => kind === "Cache")) {
    const message = `\`outputs\` is what a cached task stores, and \`${task.name.name}\` has no \`cache\``;
    const help = "add `cache`, or declare the paths with `touches`";
    context.report(policyWithoutEffect(placeIn(context, first.span), { policy: "outputs", message, help }));
  }
}

function bindPolicy(policy: Ast.Policy, bound: Draft, pools: BoundPlan["pools"], context: GraphContext): void {
  switch (policy.kind) {
    case "Tries": {
      const tries = bindTries(policy, context);
      if (tries !== undefined) bound.tries = tries;
      break;
    }
    case "Timeout":
      if (policy.duration.milliseconds > 0) bound.timeout = policy.duration.milliseconds;
      else reportZero(policy.duration.span, "a timeout of nothing fails every attempt", context);
      break;
    case "Estimate":
      if (policy.duration.milliseconds > 0) bound.estimate = policy.duration.milliseconds;
      else reportZero(policy.duration.span, "every task takes some time", context);
      break;
    case "Idempotent":
      bound.idempotent = true;
      break;
    case "Alone":
      bound.alone = true;
      break;
    case "AllowFailure":
      bound.allowFailure = true;
      break;
    case "DoneWhen":
      bound.checks = [...bound.checks, policy.check];
      break;
    case "Touches":
      bound.touches = [...bound.touches, ...bindTouches(policy, bound.touches, context)];
      break;
    case "Cwd":
    case "Env":
      // `settleCommands` has moved it into the commands.
      break;
    case "Worktree":
      bound.worktree = true;
      break;
    case "Interactive":
      // One terminal: nothing else may print or read beside the command.
      bound.interactive = true;
      bound.alone = true;
      break;
    case "Outputs":
      // `bindOutputs` binds all of a task together.
      break;
    case "Pool":
      bindPool(policy, bound, pools, context);
      break;
    case "Cache":
      if (policy.duration !== undefined) {
        const help =
          "write `cache`: a task is skipped as long as its command, its files and what it comes after are the same";
        const what = "`cache for` in a plan is";
        context.report(notSupported(placeIn(context, policy.duration.span), { what, help }));
      } else {
        const inputs = (policy.inputs ?? []).map((path) => pathOf(path, "cache inputs", context));
        bound.cache = {
          inputs: [...new Set(inputs)],
          ...bindNames("variables", policy.variables, isVariableName, context),
          ...bindNames("tools", policy.tools, (text) => text.trim() !== "" && !text.includes("\0"), context),
        };
      }
      break;
    default:
      context.report(
        policyOfGraphs(placeIn(context, policy.span), { policy: nameOf(policy), help: ALTERNATIVES[policy.kind] }),
      );
  }
}

function bindNames<Key extends "variables" | "tools">(
  key: Key,
  literals: readonly Ast.StringLiteral[] | undefined,
  isAllowed: (text: string) => boolean,
  context: GraphContext,
): { readonly [_ in Key]?: readonly string[] } {
  if (literals === undefined) return {};
  const values = new Set<string>();
  for (const { value, span } of literals) {
    if (isAllowed(value)) values.add(value);
    else context.report(illegalPolicyValue(placeIn(context, span), NOT_A_NAME[key](value)));
  }
  const bound: { [_ in Key]?: readonly string[] } = {};
  bound[key] = [...values];
  return bound;
}

const NOT_A_NAME = {
  variables: (text: string) => ({
    message: `\`${text}\` is not the name of an environment variable`,
    label: "not a name",
    help: 'name each variable: `cache variables "NODE_ENV", "CI"`',
  }),
  tools: () => ({
    message: "an empty text is not a command",
    label: "nothing to run",
    help: 'name commands that print a version: `cache tools "node --version"`',
  }),
};

function isVariableName(text: string): boolean {
  return text !== "" && !/[=\0\s*]/.test(text);
}

/** For each policy that only graphs have: how to get its effect in a plan. */
const ALTERNATIVES: Readonly<Record<"Within" | "MaxParallel" | "Waits" | "Goes" | "Was" | "Pause" | "Undo", string>> = {
  Within: "let the task call a graph whose node asks: `node approve = ask(…) { within 3d }`",
  MaxParallel: "write `max parallel N` in the plan itself, or let tasks share a `pool`",
  Waits: "a task waits for those it names: `after a, b`",
  Goes: "tasks do not jump: their order is fixed by `after`",
  Was: "resume the plan under the version that started it, or start it again",
  Undo: "let the task call a graph whose node has the `undo`",
  Pause: "let a task of its own ask: `task approve = ask(…)`",
};

function bindTouches(
  policy: Ast.Policy & { kind: "Touches" },
  before: readonly BoundTouch[],
  context: GraphContext,
): readonly BoundTouch[] {
  const { mode } = policy;
  const known = new Map(before.map((touch) => [`${touch.mode} ${touch.path}`, touch.span]));
  const touches: BoundTouch[] = [];
  for (const literal of policy.paths) {
    const path = pathOf(literal, "touches", context);
    const key = `${mode} ${path}`;
    const first = known.get(key);
    if (first !== undefined) {
      const facts = { what: `the path \`${path}\``, first: placeIn(context, first) };
      context.report(statedTwice(placeIn(context, literal.span), facts));
      continue;
    }
    known.set(key, literal.span);
    touches.push({ path, mode, span: literal.span });
  }
  return touches;
}

/**
 * The normal form of a path. A path that leaves the root is reported and kept as written; it overlaps only with equal
 * paths.
 */
function pathOf({ value, span }: Ast.StringLiteral, what: "touches" | "cache inputs", context: GraphContext): string {
  try {
    return normalizePath(value);
  } catch (error) {
    if (!(error instanceof PathEscapesRoot)) throw error;
    context.report(touchEscapesRoot(placeIn(context, span), { path: value, what }));
    return value.replaceAll("\\", "/");
  }
}

function bindPool(
  policy: Ast.Policy & { kind: "Pool" },
  bound: Draft,
  pools: BoundPlan["pools"],
  context: GraphContext,
): void {
  const { name, span } = policy.name;
  const pool = pools.findIndex((candidate) => candidate.name === name);
  const size = pools[pool]?.size;
  if (size === undefined) {
    const { similar, known } = suggest(name, () => pools.map((candidate) => candidate.name), context.suggestions);
    context.report(unknownPool(placeIn(context, span), { name, similar, known }));
    return;
  }
  const count = policy.count?.value ?? 1;
  const at = placeIn(context, policy.count?.span ?? span);
  if (count < 1) {
    context.report(illegalPolicyValue(at, { message: "a task takes at least 1 place of a pool", label: "takes none" }));
  } else if (count > size) {
    const facts = {
      message: `the pool \`${name}\` has only ${size} place${size === 1 ? "" : "s"}`,
      label: "it could never start",
    };
    context.report(illegalPolicyValue(at, facts));
  } else bound.pool = { pool, count };
}
