/** `defaults { tries 3  timeout 30s }`: the policies of all nodes of a graph that do not state their own. */
import { statedTwice } from "../../diagnostics/catalog/names.ts";
import { policyOfNodes, unusedDefault } from "../../diagnostics/catalog/policies.ts";
import type * as Ast from "../../grammar/ast.ts";
import { librarySignatures } from "../expressions/library-signatures.ts";
import { nodeSignatures } from "../../stdlib/signatures.ts";
import { bindPolicies, bindTries, nameOf, reportZero, withoutRepeated, type BoundPolicies } from "./bind-policies.ts";
import type { Declarations } from "./declarations.ts";
import { placeIn, type GraphContext } from "./graph-context.ts";

type DefaultPolicy = "tries" | "timeout";

/** The default policies with the statements that they come from. */
interface Defaults {
  readonly values: { tries?: NonNullable<BoundPolicies["tries"]>; timeout?: number };
  readonly statements: ReadonlyMap<DefaultPolicy, Ast.Policy>;
}

/** By node: its own policies, and the default of each policy that it does not state. A default that no node uses is a finding. */
export function bindAllPolicies(
  { nodes, defaults: blocks, hasBroken }: Pick<Declarations, "nodes" | "defaults" | "hasBroken">,
  context: GraphContext,
): readonly BoundPolicies[] {
  const defaults = bindDefaults(blocks, context);
  const used = new Set<DefaultPolicy>();
  const candidates = nodes.map(({ declaration }) => takesDefaults(declaration.call, context));
  const { tries, timeout } = defaults.values;
  const hasDefaults = tries !== undefined || timeout !== undefined;
  const policies = nodes.map(({ declaration }, index): BoundPolicies => {
    const own = bindPolicies(declaration, context);
    if (!hasDefaults || candidates[index] !== true) return own;
    const stated = new Set(declaration.policies.map(({ kind }) => kind));
    const takesTries = tries !== undefined && !stated.has("Tries");
    const takesTimeout = timeout !== undefined && !stated.has("Timeout");
    if (takesTries) used.add("tries");
    if (takesTimeout) used.add("timeout");
    return { ...own, ...(takesTries ? { tries } : {}), ...(takesTimeout ? { timeout } : {}) };
  });
  if (hasBroken) return policies;
  for (const [policy, { span }] of defaults.statements) {
    if (used.has(policy)) continue;
    context.report(unusedDefault(placeIn(context, span), { policy, hasCandidates: candidates.includes(true) }));
  }
  return policies;
}

function bindDefaults(blocks: readonly Ast.DefaultsDecl[], context: GraphContext): Defaults {
  const values: Defaults["values"] = {};
  const statements = new Map<DefaultPolicy, Ast.Policy>();
  const [block, ...others] = blocks;
  if (block === undefined) return { values, statements };
  for (const { span } of others) {
    context.report(statedTwice(placeIn(context, span), { what: "`defaults`", first: placeIn(context, block.span) }));
  }
  for (const policy of withoutRepeated(block.policies, context)) {
    if (policy.kind === "Tries") {
      const tries = bindTries(policy, context);
      if (tries !== undefined) values.tries = tries;
      if (tries !== undefined) statements.set("tries", policy);
    } else if (policy.kind === "Timeout") {
      const { milliseconds } = policy.duration;
      if (milliseconds > 0) {
        values.timeout = milliseconds;
        statements.set("timeout", policy);
      } else reportZero(policy.duration.span, "a timeout of nothing fails every attempt", context);
    } else {
      const facts = { policy: nameOf(policy), help: HELP[policy.kind] ?? "state it on each node that needs it" };
      context.report(policyOfNodes(placeIn(context, policy.span), facts));
    }
  }
  return { values, statements };
}

const HELP: Readonly<Partial<Record<Ast.Policy["kind"], string>>> = {
  MaxParallel: "for the tasks of the whole graph, write `max parallel N` beside `defaults`",
  Within: "state the deadline on each `ask` and `receive`",
  Idempotent: "state it on each node whose effect may safely happen twice",
  Touches: "nodes share state by channels, not files",
};

/** The built-in nodes that defaults apply to. The others wait, compute, or only print or fail. */
const BUILT_IN: ReadonlySet<string> = new Set(["llm", "http", "shell", "tool"]);

/** Defaults apply to imported functions, `llm`, `http`, `shell` and `tool`. */
function takesDefaults(call: Ast.Expr, { scope }: GraphContext): boolean {
  if (call.kind !== "Call") return false;
  const { name } = call.callee;
  const declared = scope.names.get(name);
  if (declared !== undefined) return declared.kind === "import";
  if (nodeSignatures.has(name)) return BUILT_IN.has(name);
  return !librarySignatures.has(name);
}
