import { literalSecret, secretLeak } from "../../diagnostics/catalog/effects.ts";
import type { Span } from "../../diagnostics/source.ts";
import type * as Ast from "../../grammar/ast.ts";
import { edgeExpressions } from "../../grammar/edge-syntax.ts";
import type { Expression } from "../../runtime/expression/expression.ts";
import { expressionParts } from "../../runtime/expression/expression-depth.ts";
import type { BoundArgument, BoundCall } from "../bind/bound-graph.ts";
import type { CheckContext } from "./check-context.ts";

/** Reports NG411 (a secret reaches an output) and NG413 (a key in the text). */
export function checkSecrets(context: CheckContext): void {
  if (!context.graph.hasErrors && context.graph.secrets.length > 0) reportLeaks(context);
  reportLiterals(context);
}

/** The place that an argument of a built-in node is sent to; `undefined` if a secret is allowed there. */
export function sinkOf(
  call: Extract<BoundCall, { kind: "builtin" }>,
  argument: string,
): { what: string; help: string } | undefined {
  const elsewhere = "pass it to a function of your own, which may use it without showing it";
  switch (call.signature.name) {
    case "llm":
      return { what: "a prompt", help: "leave it out: a model needs no secrets, and may repeat them" };
    case "file":
      return { what: argument === "text" ? "a file" : "the name of a file", help: elsewhere };
    case "memory":
      return { what: "the long-term memory", help: elsewhere };
    case "csv":
    case "json":
    case "yaml":
      return { what: "a text that the graph stores", help: elsewhere };
    case "print":
      return { what: "a log", help: "leave it out" };
    case "ask":
      return { what: "a question to a person", help: "leave it out" };
    case "fail":
      return { what: "an error message", help: "leave it out" };
    case "http":
      // A header is where credentials belong.
      if (argument === "headers") return undefined;
      return {
        what: argument === "url" ? "the address of a request" : "the body of a request",
        help: `send it as a header, or ${elsewhere}`,
      };
    case "shell":
      // Other processes read command lines, but neither variables nor the standard input of a command.
      if (argument === "env" || argument === "input") return undefined;
      return {
        what: argument === "cwd" ? "the name of a directory" : "a command line",
        help: 'pass it as a variable, `env: { NAME: … }`, and read it as `"$NAME"`',
      };
    case "tool":
      return { what: "the arguments of a tool", help: elsewhere };
    default:
      return undefined;
  }
}

interface Carried {
  readonly secret: string;
  /** The channels that carry it. */
  readonly through: readonly string[];
}

function reportLeaks(context: CheckContext): void {
  const { graph } = context;
  const carried = carriersOf(context);
  for (const call of graph.nodes.flatMap((node) => [node.call, node.undo?.call ?? []].flat())) {
    if (call.kind !== "builtin") continue;
    for (const argument of call.args) {
      const sink = sinkOf(call, argument.name);
      const found = sink === undefined ? undefined : secretIn(argument.value.expression, carried);
      if (sink === undefined || found === undefined) continue;
      context.report(
        secretLeak(context.place(leakSpan(argument, found)), {
          secret: found.secret,
          sink: sink.what,
          through: found.through,
          help: sink.help,
          labels: [],
        }),
      );
    }
  }
}

/** The name of the secret in the argument, or the whole argument if the name does not occur in it. */
function leakSpan(argument: BoundArgument, found: Carried): Span {
  const wanted = found.through[0] ?? found.secret;
  return namesIn(argument.value.syntax).find((name) => name.name === wanted)?.span ?? argument.value.span;
}

/** Channels that pure expressions copy a secret into. */
function carriersOf(context: CheckContext): Map<number, Carried> {
  const { graph, model } = context;
  const carried = new Map<number, Carried>();
  for (let changed = true; changed;) {
    changed = false;
    for (const writes of model.data.writes) {
      for (const { channel, expression } of writes) {
        if (expression === undefined || carried.has(channel)) continue;
        const found = secretIn(expression, carried);
        if (found === undefined) continue;
        carried.set(channel, {
          secret: found.secret,
          through: [graph.channels[channel]?.name ?? "", ...found.through],
        });
        changed = true;
      }
    }
  }
  return carried;
}

/** A secret that the value of an expression contains. Comparisons and imported functions do not pass it on. */
function secretIn(expression: Expression, carried: ReadonlyMap<number, Carried>): Carried | undefined {
  const pending: Expression[] = [expression];
  for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
    if (part.op === "secret") return { secret: part.name, through: [] };
    if (part.op === "channel") {
      const found = carried.get(part.channel);
      if (found !== undefined) return found;
    } else if (part.op === "if") pending.push(part.then, part.else);
    else if (part.op === "binary" && !["+", "??"].includes(part.operator)) continue;
    else if (part.op !== "call" && part.op !== "not") for (const each of expressionParts(part)) pending.push(each);
  }
  return undefined;
}

/** Patterns of well-known keys, which are unlikely in other text. */
const SHAPES: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----/, "a private key"],
  [/\bsk-(?:proj-|ant-)?[A-Za-z0-9_-]{20,}/, "an API key"],
  [/\bgh[pousr]_[A-Za-z0-9]{36}/, "a GitHub token"],
  [/\bgithub_pat_[A-Za-z0-9_]{22,}/, "a GitHub token"],
  [/\bglpat-[A-Za-z0-9_-]{20}/, "a GitLab token"],
  [/\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/, "an AWS access key"],
  [/\bAIza[0-9A-Za-z_-]{35}\b/, "a Google API key"],
  [/\bxox[abprs]-[A-Za-z0-9-]{10,}/, "a Slack token"],
  [/\bsk_live_[A-Za-z0-9]{16,}/, "a Stripe key"],
  [/\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}/, "a JSON web token"],
];

/** NG413. */
function reportLiterals(context: CheckContext): void {
  for (const { span, text } of literalsOf(context.graph.declaration)) {
    const shape = text.length < 20 ? undefined : SHAPES.find(([pattern]) => pattern.test(text));
    if (shape !== undefined) context.report(literalSecret(context.place(span), { kind: shape[1] }));
  }
}

function literalsOf(graph: Ast.GraphDecl): { span: Span; text: string }[] {
  const pending: Ast.Expr[] = [];
  for (const statement of graph.statements) {
    if (statement.kind === "Channel" && statement.initial !== undefined) pending.push(statement.initial);
    else if (statement.kind === "Node") {
      pending.push(statement.call);
      for (const policy of statement.policies) if (policy.kind === "Undo") pending.push(policy.call);
      if (statement.each !== undefined) {
        pending.push(statement.each.list);
        if (statement.each.condition !== undefined) pending.push(statement.each.condition);
      }
    } else if (statement.kind === "Derive") {
      pending.push(statement.value);
    } else if (statement.kind === "Edge") {
      for (const each of edgeExpressions(statement)) pending.push(each);
    }
  }
  const found: { span: Span; text: string }[] = [];
  for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
    if (part.kind === "String") found.push({ span: part.span, text: part.value });
    else if (part.kind === "Template") {
      for (const piece of part.parts) {
        if (piece.kind === "TemplateText") found.push({ span: piece.span, text: piece.value });
        else pending.push(piece);
      }
    } else for (const each of childrenOf(part)) pending.push(each);
  }
  return found;
}

/** The names in an expression. */
export function namesIn(expression: Ast.Expr): Ast.NameExpr[] {
  const found: Ast.NameExpr[] = [];
  const pending: Ast.Expr[] = [expression];
  for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
    if (part.kind === "Name") found.push(part);
    else if (part.kind === "Template")
      for (const each of part.parts.filter((piece) => piece.kind !== "TemplateText")) pending.push(each);
    else for (const each of childrenOf(part)) pending.push(each);
  }
  return found;
}

function childrenOf(expression: Ast.Expr): readonly Ast.Expr[] {
  switch (expression.kind) {
    case "List":
      return expression.items.map((item) => (item.kind === "Spread" ? item.value : item));
    case "Record":
      return expression.fields.map((field) => field.value);
    case "Comprehension":
      return [expression.value, ...expression.clauses.flatMap(({ list, condition }) => [list, condition ?? []].flat())];
    case "NonNull":
      return [expression.object];
    case "Derived":
      return [expression.value];
    case "Member":
      return [expression.object];
    case "Index":
      return [expression.object, expression.index];
    case "Call":
      return expression.args.map((argument) => argument.value);
    case "Unary":
      return [expression.operand];
    case "Binary":
      return [expression.left, expression.right];
    case "Conditional":
      return [expression.condition, expression.then, expression.otherwise];
    default:
      return [];
  }
}
