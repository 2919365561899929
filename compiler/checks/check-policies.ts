import {
  callWithoutTimeout,
  effectBeforePause,
  failureUnhandled,
  retriedEffect,
  triesExceedLimit,
} from "../../diagnostics/catalog/effects.ts";
import type { Span } from "../../diagnostics/source.ts";
import { graphsCalledBy, type BoundCall, type BoundGraph, type BoundNode } from "../bind/bound-graph.ts";
import type { CheckContext } from "./check-context.ts";

/** Reports NG601 to NG604 and NG607: policies that do not fit their calls, and failures without a handler. */
export function checkPolicies(context: CheckContext): void {
  context.graph.nodes.forEach((node, index) => {
    const { call } = node;
    if (node.timeout !== undefined) checkTriesWithin(context, node, graphsCalledBy(call));
    if (call.kind !== "builtin") return;
    const { effects, name, pauses } = call.signature;
    const reaches = effects.includes("net") || effects.includes("shell");
    if (reaches && node.timeout === undefined && pauses !== true) {
      context.report(callWithoutTimeout(context.place(node.declaration.call.span), { node: node.name, call: name }));
    }
    if (pauses === true && (reaches || effects.includes("files"))) {
      context.report(effectBeforePause(context.place(node.declaration.call.span), { node: node.name, call: name }));
    }
    const effect = repeatableEffect(call);
    if (effect !== undefined && node.tries !== undefined && node.tries.attempts > 1 && !node.idempotent) {
      const span = policySpan(node, "Tries");
      const facts = { node: node.name, attempts: node.tries.attempts, effect };
      context.report(retriedEffect(span === undefined ? context.nodePlace(index) : context.place(span), facts));
    }
  });
}

/** The effect that a second attempt would repeat; `undefined` if it can be repeated safely. */
function repeatableEffect(call: Extract<BoundCall, { kind: "builtin" }>): string | undefined {
  switch (call.signature.name) {
    case "shell":
      return "a command";
    case "tool":
      return "a tool call";
    case "http": {
      const method = call.args.find((argument) => argument.name === "method")?.value.expression;
      // GET, HEAD, OPTIONS, PUT and DELETE are idempotent (RFC 9110).
      if (method === undefined) return undefined;
      if (method.op !== "const") return "a request";
      return method.value === "POST" || method.value === "PATCH" ? `a ${method.value} request` : undefined;
    }
    default:
      return undefined;
  }
}

function policySpan(node: BoundNode, kind: "Tries" | "Timeout"): Span | undefined {
  return node.declaration.policies.find((policy) => policy.kind === kind)?.span;
}

/** Reports NG604 for the nodes of a graph that is called with a timeout, at any depth. */
function checkTriesWithin(context: CheckContext, caller: BoundNode, graphs: readonly BoundGraph[]): void {
  if (graphs.length === 0) return;
  const limit = caller.timeout ?? 0;
  const span = policySpan(caller, "Timeout");
  if (span === undefined) return;
  const seen = new Set<BoundGraph>();
  const open = [...graphs];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    for (const node of next.nodes) {
      open.push(...graphsCalledBy(node.call));
      const needed = longestTries(node);
      if (needed <= limit) continue;
      context.report(
        triesExceedLimit(context.place(span), {
          node: node.name,
          caller: caller.name,
          needed: formatDuration(needed),
          limit: formatDuration(limit),
          declaration: {
            file: next.file,
            span: policySpan(node, "Tries") ?? node.declaration.name.span,
            message: "these tries",
          },
        }),
      );
    }
  }
}

/** The longest time of all attempts and the waits between them, in milliseconds; 0 without retries. */
function longestTries({ tries, timeout }: BoundNode): number {
  if (tries === undefined || tries.attempts < 2) return 0;
  let total = tries.attempts * (timeout ?? 0);
  if (tries.backoff === undefined) return total;
  for (let attempt = 1; attempt < Math.min(tries.attempts, 1000); attempt++) {
    total += Math.min(tries.backoff.max, tries.backoff.min * 2 ** (attempt - 1));
  }
  return total;
}

function formatDuration(milliseconds: number): string {
  if (milliseconds % 60_000 === 0 && milliseconds > 0) return `${milliseconds / 60_000}m`;
  return milliseconds % 1000 === 0 ? `${milliseconds / 1000}s` : `${milliseconds}ms`;
}

/** Reports NG607 once for all nodes, because most graphs let most failures fail the run. */
export function checkFailures(context: CheckContext): void {
  const open = context.model.nodes.filter(({ index, errorRouting, alwaysFails, allowsFailure }) => {
    const kind = context.graph.nodes[index]!.call.kind;
    return errorRouting === undefined && !alwaysFails && !allowsFailure && kind !== "expression" && kind !== "broken";
  });
  const [first] = open;
  if (first === undefined) return;
  context.report(failureUnhandled(context.nodePlace(first.index), { nodes: open.map((node) => node.name) }));
}
