import { unapprovedEffect, untrustedCommand } from "../../diagnostics/catalog/effects.ts";
import type { Label } from "../../diagnostics/diagnostic.ts";
import type { Span } from "../../diagnostics/source.ts";
import type * as Ast from "../../grammar/ast.ts";
import type { Expression } from "../../runtime/expression/expression.ts";
import type { BoundArgument, BoundNode, TypedExpression } from "../bind/bound-graph.ts";
import { isQuoted, RAW } from "../expressions/type-command.ts";
import type { CheckContext } from "./check-context.ts";
import { outputPlace } from "./check-data.ts";
import { namesIn } from "./check-secrets.ts";
import { taintOf, untrustedFlow, type Source } from "./untrusted-flow.ts";

/**
 * Reports NG412: untrusted text is run by a shell, or output of a model controls a request or a tool, and no person has
 * seen it.
 */
export function checkUntrusted(context: CheckContext): void {
  const { graph, model } = context;
  if (!graph.nodes.some((node) => sinksOf(node).length > 0)) return;
  const { before } = untrustedFlow(context);
  const reported = new Set<BoundNode>();
  for (const { index } of model.nodes) {
    const node = context.node(index);
    if (node.pauseBefore || reported.has(node)) continue;
    for (const sink of sinksOf(node)) {
      const source = taintOf(sink.expression, before[index]!, node, sink.wanted);
      if (source === undefined) continue;
      reported.add(node);
      report(context, node, sink, source);
      break;
    }
  }
}

interface Sink {
  readonly expression: Expression;
  readonly value: TypedExpression;
  readonly effect: string;
  /** Untrusted text of which origin is reported. */
  readonly wanted: "model" | "any";
}

function sinksOf({ call }: BoundNode): readonly Sink[] {
  if (call.kind !== "builtin") return [];
  const whole = (effect: (argument: BoundArgument) => string): readonly Sink[] =>
    call.args.map((argument) => ({
      expression: argument.value.expression,
      value: argument.value,
      effect: effect(argument),
      wanted: "model",
    }));
  switch (call.signature.name) {
    case "shell":
      return call.args.flatMap(({ name, value }) =>
        name !== "command"
          ? []
          : unquotedParts(value.expression).map((expression) => ({
              expression,
              value,
              effect: "a shell command",
              wanted: "any" as const,
            })),
      );
    case "tool":
      return whole(() => "a tool call");
    case "http":
      return whole(({ name }) => (name === "url" ? "the address of a request" : "a request"));
    default:
      return [];
  }
}

/** The parts of a command that a shell runs as they are, and the program of a list. */
function unquotedParts(command: Expression): readonly Expression[] {
  switch (command.op) {
    case "const":
      return [];
    case "if":
      return [...unquotedParts(command.then), ...unquotedParts(command.else)];
    case "template":
      return command.parts.flatMap((part) => (typeof part === "string" || isQuoted(part) ? [] : [part]));
    case "list":
      return programOf(command.items);
    default:
      return [command];
  }
}

/** The items of a list that can be its first one: spread lists may be empty. */
function programOf(items: Extract<Expression, { op: "list" }>["items"]): readonly Expression[] {
  const first = items.findIndex((item) => !("spread" in item));
  return items.slice(0, first === -1 ? undefined : first + 1).map((item) => ("spread" in item ? item.spread : item));
}

function report(context: CheckContext, node: BoundNode, { value, effect }: Sink, source: Source): void {
  const { channel, node: writer } = source;
  const name = channel === undefined ? undefined : (context.graph.channels[channel]?.name ?? "");
  const labels: readonly Label[] =
    writer === undefined || name === undefined ? [] : [{ ...outputPlace(context, writer, name), message: source.what }];
  if (source.isModel) {
    const facts = { model: writer === undefined ? source.what : context.nodeName(writer), effect, labels };
    context.report(
      unapprovedEffect(context.place(value.span), { ...facts, channel: name ?? source.what, node: node.name }),
    );
    return;
  }
  const span = spanOf(value, name);
  context.report(untrustedCommand(context.place(span), { what: source.what, channel: name, node: node.name, labels }));
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
