/** The policies of nodes: a topology has one retry policy, and no other. */
import type { BoundNode } from "../../../compiler/bind/bound-graph.ts";
import type { Json } from "../../../runtime/value/json.ts";
import { textOf } from "../state-idiom.ts";
import type { Topology } from "./topology.ts";

export function checkPolicies(topology: Topology, node: BoundNode): void {
  const { declaration, name } = node;
  if (node.each !== undefined)
    topology.refuse(
      declaration.each?.span ?? declaration.span,
      `\`${name}\` runs once for each item, and a topology has a fixed number of nodes`,
      "loop in the function of the node",
    );
  for (const { kind, span } of declaration.policies) {
    switch (kind) {
      case "Waits":
      case "Goes":
      case "Undo":
        topology.refuse(
          span,
          `\`${kind.toLowerCase()}\` of \`${name}\` has no form in a topology`,
          kind === "Waits"
            ? "say the order with edges"
            : kind === "Goes"
              ? "say the jumps with `match`"
              : "undo the result with a node",
        );
        break;
      case "Timeout":
      case "Within":
      case "Cache":
      case "MaxParallel":
        topology.lose(
          span,
          `the policy \`${textOf(topology.graph, span)}\` of \`${name}\` has no form in a topology`,
          "let the function of the node do it",
        );
        break;
      default:
    }
  }
}

/** A topology has one retry policy for all of its nodes. */
export function retryPolicy(topology: Topology, nodes: readonly BoundNode[]): Json | undefined {
  // `defaults` concerns calls of functions only.
  const calls = nodes.filter(({ call }) => call.kind === "function" || call.kind === "builtin");
  const first = calls[0]?.tries;
  const key = (node: BoundNode): string => JSON.stringify(node.tries ?? null);
  if (first !== undefined && calls.every((node) => key(node) === key(calls[0]!))) {
    if (first.attempts <= 1) return undefined;
    for (const { name, call, tries, declaration } of nodes) {
      if (call.kind === "graph" && tries?.attempts !== first.attempts)
        topology.lose(
          declaration.name.span,
          `a retry policy is of all nodes: \`${name}\` is tried ${first.attempts} times, too`,
          "nothing, if the graph can be called again",
        );
    }
    return {
      max_retries: first.attempts - 1,
      initial_delay_ms: first.backoff?.min ?? 1,
      max_delay_ms: first.backoff?.max ?? 1,
      backoff_multiplier: 2,
    };
  }
  for (const { name, tries, declaration } of nodes) {
    if (tries === undefined) continue;
    const span = declaration.policies.find(({ kind }) => kind === "Tries")?.span ?? declaration.name.span;
    topology.lose(
      span,
      `a topology has one retry policy for all nodes: \`${name}\` is tried once`,
      "give all nodes the same `tries`, with `defaults { tries … }`",
    );
  }
  return undefined;
}
