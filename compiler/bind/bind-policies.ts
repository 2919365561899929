import {
  badUndo,
  illegalPolicyValue,
  maxParallelBelowOne,
  policyOfPlans,
  policyWithoutEffect,
  timeoutOfWait,
  triesOfWait,
  type Wait,
  withinWithoutWait,
} from "../../diagnostics/catalog/policies.ts";
import { edgeAtBoundary, statedTwice } from "../../diagnostics/catalog/names.ts";
import type { Span } from "../../diagnostics/source.ts";
import type * as Ast from "../../grammar/ast.ts";
import { END_NAME, FINALLY, ROLLBACK_NAME, START, type BoundNode } from "./bound-graph.ts";
import { nodeSignatures } from "../../stdlib/signatures.ts";
import { librarySignatures } from "../expressions/library-signatures.ts";
import { placeIn, type GraphContext } from "./graph-context.ts";
import { reportUnknownNode } from "./resolve-edges.ts";

export type BoundPolicies = Pick<
  BoundNode,
  | "tries"
  | "timeout"
  | "within"
  | "cache"
  | "maxParallel"
  | "allowsFailure"
  | "pauseBefore"
  | "pauseAfter"
  | "goes"
  | "waits"
  | "was"
  | "idempotent"
> & {
  /** Its call is typed with the node. */
  readonly undo?: {
    readonly policy: Ast.Policy & { readonly kind: "Undo" };
    readonly tries?: BoundNode["tries"];
    readonly timeout?: number;
  };
};

export const NO_POLICIES: BoundPolicies = { pauseBefore: false, pauseAfter: false, idempotent: false };

/** Binds the policies of a node. Reports and omits repeated, impossible and misplaced policies. */
export function bindPolicies(node: Ast.NodeDecl, context: GraphContext): BoundPolicies {
  if (node.policies.length === 0) return NO_POLICIES;
  const bound: { -readonly [Key in keyof BoundPolicies]: BoundPolicies[Key] } = { ...NO_POLICIES };
  for (const policy of withoutRepeated(node.policies, context)) bindPolicy(policy, node, bound, context);
  if (bound.cache !== undefined && bound.undo !== undefined) {
    const cache = node.policies.find(({ kind }) => kind === "Cache")!;
    const message = `\`${node.name.name}\` has \`undo\` and \`cache\``;
    const help = "a cached result is not done again, so there is nothing of its own to undo: remove one of them";
    context.report(badUndo(placeIn(context, cache.span), { message, help }));
  }
  return bound;
}

/**
 * Yields each policy that is stated for the first time and reports repetitions. `repeatable`: kinds that may be
 * repeated.
 */
export function* withoutRepeated(
  policies: readonly Ast.Policy[],
  context: GraphContext,
  repeatable?: ReadonlySet<Ast.Policy["kind"]>,
): Generator<Ast.Policy> {
  const stated = new Map<string, Span>();
  for (const policy of policies) {
    const what = nameOf(policy);
    const first = stated.get(what);
    if (first === undefined || repeatable?.has(policy.kind) === true) {
      stated.set(what, policy.span);
      yield policy;
    } else {
      const facts = { what: `\`${what}\``, first: placeIn(context, first) };
      context.report(statedTwice(placeIn(context, policy.span), facts));
    }
  }
}

function bindPolicy(
  policy: Ast.Policy,
  node: Ast.NodeDecl,
  bound: { -readonly [Key in keyof BoundPolicies]: BoundPolicies[Key] },
  context: GraphContext,
): void {
  switch (policy.kind) {
    case "Tries": {
      const wait = waitOf(node.call, context);
      if (wait !== undefined) {
        context.report(triesOfWait(placeIn(context, policy.span), { node: node.name.name, call: wait }));
        break;
      }
      const tries = bindTries(policy, context);
      if (tries !== undefined) bound.tries = tries;
      break;
    }
    case "Timeout": {
      const wait = waitOf(node.call, context);
      if (wait !== undefined) {
        const keyword = wordAt(policy.span, "timeout", context);
        const facts = { node: node.name.name, call: wait, keyword, duration: policy.duration.raw };
        context.report(timeoutOfWait(placeIn(context, policy.span), facts));
        break;
      }
      if (policy.duration.milliseconds > 0) bound.timeout = policy.duration.milliseconds;
      else reportZero(policy.duration.span, "a timeout of nothing fails every attempt", context);
      break;
    }
    case "Within": {
      const wait = waitOf(node.call, context);
      if (wait === undefined || wait === "sleep") {
        const keyword = wordAt(policy.span, "within", context);
        const facts = { node: node.name.name, call: wait, keyword, duration: policy.duration.raw };
        context.report(withinWithoutWait(placeIn(context, policy.span), facts));
      } else if (policy.duration.milliseconds > 0) bound.within = policy.duration.milliseconds;
      else reportZero(policy.duration.span, "no answer can come in time", context);
      break;
    }
    case "Cache":
      bindCache(policy, node, bound, context);
      break;
    case "MaxParallel":
      if (policy.count.value >= 1) bound.maxParallel = policy.count.value;
      else context.report(maxParallelBelowOne(placeIn(context, policy.count.span), { of: "graph" }));
      break;
    case "AllowFailure":
      bindAllowFailure(policy, node, bound, context);
      break;
    case "Waits": {
      const boundaries = new Set<string>([START, FINALLY, END_NAME, ROLLBACK_NAME]);
      const waits = resolveNodes(policy.nodes, context, (name) => !boundaries.has(name));
      if (waits.length > 0) bound.waits = waits.map(({ name }) => name);
      break;
    }
    case "Goes":
      bound.goes = bindGoes(policy, node, context);
      break;
    case "Was":
      bound.was = policy.names.map(({ name }) => name);
      break;
    case "Pause":
      if (policy.when === "before") bound.pauseBefore = true;
      else bound.pauseAfter = true;
      break;
    case "Idempotent":
      bound.idempotent = true;
      break;
    case "Undo":
      bound.undo = bindUndoPolicies(policy, context);
      break;
    default:
      context.report(
        policyOfPlans(placeIn(context, policy.span), { policy: nameOf(policy), help: ALTERNATIVES[policy.kind] }),
      );
  }
}

function bindUndoPolicies(
  policy: Ast.Policy & { kind: "Undo" },
  context: GraphContext,
): NonNullable<BoundPolicies["undo"]> {
  const bound: { tries?: BoundPolicies["tries"]; timeout?: number } = {};
  for (const each of withoutRepeated(policy.policies, context)) {
    if (each.kind === "Tries") {
      const tries = bindTries(each, context);
      if (tries !== undefined) bound.tries = tries;
    } else if (each.kind === "Timeout") {
      if (each.duration.milliseconds > 0) bound.timeout = each.duration.milliseconds;
      else reportZero(each.duration.span, "a timeout of nothing fails every attempt", context);
    }
  }
  return { policy, ...bound };
}

/** For each policy that only plans have: how to get its effect in a graph. */
const ALTERNATIVES: Readonly<
  Record<
    "Touches" | "Alone" | "DoneWhen" | "Pool" | "Estimate" | "Cwd" | "Env" | "Worktree" | "Outputs" | "Interactive",
    string
  >
> = {
  Touches: "nodes share state by channels, not files; to keep two nodes apart put an edge between them",
  Alone: "a step runs what was signalled: to run a node alone, lead a barrier `all(…)` to it",
  DoneWhen: "check in a node of its own and loop: `check -> again when !passed`",
  Pool: "bound tasks with `max parallel N`, on a `for` node or for the whole graph",
  Cwd: 'pass it to the command: `shell("…", cwd: "…")`',
  Env: 'pass it to the command: `shell("…", env: { … })`',
  Worktree: "call a plan from the node: its tasks have the policy",
  Outputs: "call a plan from the node: its tasks have the policy",
  Interactive: "call a plan from the node: its tasks have the policy",
  Estimate: "remove it: steps are not scheduled by how long they take",
};

/** The name of a policy in the source text. */
export function nameOf(policy: Ast.Policy): string {
  switch (policy.kind) {
    case "MaxParallel":
      return "max parallel";
    case "AllowFailure":
      return "allow failure";
    case "Pause":
      return `pause ${policy.when}`;
    case "DoneWhen":
      return "done when";
    default:
      return policy.kind.toLowerCase();
  }
}

export function reportZero(span: Span, label: string, context: GraphContext): void {
  const message = "this duration must be longer than nothing";
  context.report(illegalPolicyValue(placeIn(context, span), { message, label }));
}

export function bindTries(
  policy: Ast.Policy & { kind: "Tries" },
  context: GraphContext,
): BoundPolicies["tries"] | undefined {
  const { attempts, backoff } = policy;
  if (attempts.value < 1) {
    const facts = {
      message: "`tries` is at least 1",
      label: "attempts in all, the first included",
      help: "`tries 1` runs it once; leave it out for the same",
    };
    context.report(illegalPolicyValue(placeIn(context, attempts.span), facts));
    return undefined;
  }
  if (backoff === undefined) return { attempts: attempts.value };
  const min = backoff.min.milliseconds;
  const max = backoff.max?.milliseconds ?? min;
  if (max < min) {
    const { span } = backoff.max ?? backoff.min;
    const facts = {
      message: "a backoff grows: its end is not shorter than its beginning",
      label: `shorter than \`${backoff.min.raw}\``,
      help: `write \`${backoff.max?.raw ?? ""}..${backoff.min.raw}\``,
    };
    context.report(illegalPolicyValue(placeIn(context, span), facts));
    return { attempts: attempts.value };
  }
  return { attempts: attempts.value, backoff: { min, max } };
}

function bindAllowFailure(
  policy: Ast.Policy & { kind: "AllowFailure" },
  node: Ast.NodeDecl,
  bound: { -readonly [Key in keyof BoundPolicies]: BoundPolicies[Key] },
  context: GraphContext,
): void {
  const place = placeIn(context, policy.span);
  const name = node.name.name;
  if (node.each === undefined) {
    const message = `\`${name}\` has no items: it has no \`for\``;
    const help = `to continue after a failure: \`${name} -> … on error\``;
    context.report(policyWithoutEffect(place, { policy: "allow failure", message, help }));
  } else if (node.policies.some(({ kind }) => kind === "Goes")) {
    const message = "the items of a node with `goes` choose the next nodes, so none of them may be left out";
    const help = "remove `allow failure`, or choose the next nodes with `when` or `match` on the edges of the node";
    context.report(policyWithoutEffect(place, { policy: "allow failure", message, help }));
  } else bound.allowsFailure = true;
}

function bindCache(
  policy: Ast.Policy & { kind: "Cache" },
  node: Ast.NodeDecl,
  bound: { -readonly [Key in keyof BoundPolicies]: BoundPolicies[Key] },
  context: GraphContext,
): void {
  const place = placeIn(context, policy.span);
  const list = (["inputs", "variables", "tools"] as const).find((key) => policy[key] !== undefined);
  if (list !== undefined) {
    context.report(policyOfPlans(place, { policy: `cache ${list}`, help: "the arguments of the node are its key" }));
    return;
  }
  const message = whyNotCached(node.call, context);
  if (message !== undefined) {
    context.report(policyWithoutEffect(place, { policy: "cache", message, help: "remove it" }));
    return;
  }
  if (policy.duration !== undefined && policy.duration.milliseconds <= 0) {
    reportZero(policy.duration.span, "nothing would be kept", context);
    return;
  }
  bound.cache = { for: policy.duration?.milliseconds ?? null };
}

/** Why a call cannot be cached; `undefined` where it can. */
function whyNotCached(call: Ast.Expr, context: GraphContext): string | undefined {
  const name = call.kind === "Call" ? call.callee.name : undefined;
  const isDeclared = name !== undefined && context.scope.names.has(name);
  if (name === undefined || (!isDeclared && librarySignatures.has(name) && !nodeSignatures.has(name))) {
    return "an expression is computed each time: there is nothing to keep";
  }
  return isDeclared ? undefined : WHY_NOT_CACHED.get(name);
}

const WHY_NOT_CACHED: ReadonlyMap<string, string> = new Map([
  ["file", "files change without the graph, and a stored result would write no file"],
  ["memory", "the memory changes without the graph, and a stored result would store nothing"],
  ["ask", "each run needs a new answer"],
  ["receive", "each run needs a new signal"],
  ["sleep", "each run waits again"],
]);

/** The place of a policy's word; in YAML a key can have quotes. */
function wordAt({ start }: Span, word: string, { file }: GraphContext): Span {
  const at = file.text.indexOf(word, start);
  return { start: at, end: at + word.length };
}

/** The built-in node that waits, if the call is one. */
function waitOf(call: Ast.Expr, context: GraphContext): Wait | undefined {
  const name = call.kind === "Call" ? call.callee.name : undefined;
  if (name === undefined || context.scope.names.has(name)) return undefined;
  return name === "ask" || name === "receive" || name === "sleep" ? name : undefined;
}

function bindGoes(policy: Ast.Policy & { kind: "Goes" }, node: Ast.NodeDecl, context: GraphContext): readonly string[] {
  if (!mayJump(node.call, context)) {
    const facts = {
      policy: "goes",
      message: "only imported functions can jump",
      help: "choose the way with `when` or `match` on the edges of the node",
    };
    context.report(policyWithoutEffect(placeIn(context, policy.span), facts));
  }
  const seen = new Map<string, Span>();
  const names: string[] = [];
  for (const { name, span } of resolveNodes(policy.nodes, context, (name) => name !== START && name !== FINALLY)) {
    const first = seen.get(name);
    if (first !== undefined) {
      const facts = { what: `\`${name}\` in \`goes\``, first: placeIn(context, first) };
      context.report(statedTwice(placeIn(context, span), facts));
      continue;
    }
    seen.set(name, span);
    names.push(name);
  }
  return names;
}

/** Whether a call may jump: only imported functions can. An unknown callee counts as one. */
function mayJump(call: Ast.Expr, context: GraphContext): boolean {
  if (call.kind !== "Call") return false;
  const { name } = call.callee;
  const declared = context.scope.names.get(name);
  if (declared !== undefined) return declared.kind === "import" || declared.kind === "broken";
  return !nodeSignatures.has(name) && !librarySignatures.has(name);
}

/** The identifiers that name nodes, or `end` where it is allowed. Reports the others. */
function resolveNodes(
  names: readonly Ast.Identifier[],
  context: GraphContext,
  allowed: (name: string) => boolean,
): Ast.Identifier[] {
  const found: Ast.Identifier[] = [];
  for (const identifier of names) {
    const { name, span } = identifier;
    const isBoundary = name === START || name === FINALLY || name === END_NAME || name === ROLLBACK_NAME;
    if (isBoundary && !allowed(name)) {
      const use = allowed(END_NAME) ? "target" : "member";
      context.report(edgeAtBoundary(placeIn(context, span), { name, use }));
    } else if (isBoundary || context.nodes.has(name)) found.push(identifier);
    else reportUnknownNode(identifier, context, allowed(END_NAME) ? [END_NAME, ROLLBACK_NAME] : []);
  }
  return found;
}
