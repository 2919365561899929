import {
  unapprovedEffect,
  unapprovedToolCall,
  untrustedCommand,
  untrustedTarget,
} from "../../diagnostics/catalog/effects.ts";
import type { Label } from "../../diagnostics/diagnostic.ts";
import type { Span } from "../../diagnostics/source.ts";
import type * as Ast from "../../grammar/ast.ts";
import type { BoundNode, TypedExpression } from "../bind/bound-graph.ts";
import { toolNamesIn } from "../bind/bind-tools.ts";
import { RAW } from "../expressions/type-command.ts";
import type { CheckContext } from "./check-context.ts";
import { outputPlace } from "./check-data.ts";
import { namesIn } from "./check-secrets.ts";
import { hasSinks, reachedSinks, summaryOf, untrustedFlow, type AnySink } from "./untrusted-flow.ts";
import { HOST } from "./untrusted-sinks.ts";
import { sourceFor, type Source } from "./untrusted-text.ts";

/**
 * Reports NG412: untrusted text is run by a shell, or decides the host of a request or the path of a file, or output of a model
 * controls a request or a tool, and no person has seen it.
 */
export function checkUntrusted(context: CheckContext): void {
  if (!hasSinks(context.graph)) return;
  const reported = new Set<BoundNode>();
  for (const { index, sink, held } of reachedSinks(context, untrustedFlow(context))) {
    const node = context.node(index);
    if (reported.has(node)) continue;
    const source = sourceFor(held, sink.wanted);
    if (source === undefined) continue;
    reported.add(node);
    report(context, node, sink, source);
  }
  for (const node of context.graph.nodes) reportTools(context, node);
}

/** A model chooses the arguments of the graphs among its tools. A request to a host that the graph names is what a tool is for. */
function reportTools(context: CheckContext, { call, name, declaration, pauseBefore }: BoundNode): void {
  if (call.kind !== "builtin" || pauseBefore) return;
  for (const tool of call.tools ?? []) {
    if (!("graph" in tool) || tool.approval || !hasSinks(tool.graph)) continue;
    const sink = summaryOf(tool.graph).sinks.find(({ wanted }) => wanted !== "model");
    if (sink === undefined) continue;
    const { effect, input } = sink;
    const names = declaration.call.kind === "Call" ? toolNamesIn(declaration.call) : [];
    const { span } = names.find((each) => each.name === tool.name) ?? declaration.name;
    context.report(unapprovedToolCall(context.place(span), { tool: tool.name, effect, input, node: name }));
  }
}

function report(
  context: CheckContext,
  node: BoundNode,
  { value, effect, interpreter, isInner }: AnySink,
  source: Source,
): void {
  const { channel, node: writer, what } = source;
  const name = channel === undefined ? undefined : (context.graph.channels[channel]?.name ?? "");
  const labels: readonly Label[] =
    writer === undefined || name === undefined ? [] : [{ ...outputPlace(context, writer, name), message: what }];
  if (source.kind === "model") {
    const facts = { model: writer === undefined ? what : context.nodeName(writer), effect, labels };
    context.report(unapprovedEffect(context.place(value.span), { ...facts, channel: name ?? what, node: node.name }));
    return;
  }
  const place = context.place(spanOf(value, name));
  const facts = { what, channel: name, node: node.name, labels };
  context.report(
    isInner === true || !effect.startsWith("a shell command")
      ? untrustedTarget(place, { ...facts, effect, isHost: effect.startsWith(HOST) })
      : untrustedCommand(place, { ...facts, interpreter }),
  );
}

/** The name of the channel in `raw(…)`, or the whole command if it is not written there. */
function spanOf({ syntax, span }: TypedExpression, channel: string | undefined): Span {
  const parts: readonly Ast.Expr[] =
    syntax.kind === "Template"
      ? syntax.parts.flatMap((part) => (part.kind === "Call" && part.callee.name === RAW ? [part] : []))
      : [syntax];
  const name = parts.flatMap((part) => namesIn(part)).find((candidate) => candidate.name === channel);
  return name?.span ?? span;
}
