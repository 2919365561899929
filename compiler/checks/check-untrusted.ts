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
import { taintOf, untrustedFlow, type Source, type Taint } from "./untrusted-flow.ts";

/**
 * Reports NG412: untrusted text is run by a shell, or output of a model controls a request or a tool, and no person has
 * seen it.
 */
export function checkUntrusted(context: CheckContext): void {
  const { graph, model } = context;
  if (!graph.nodes.some(({ call, undo }) => sinksOf(call).length > 0 || sinksOf(undo?.call).length > 0)) return;
  const { before, inUndo } = untrustedFlow(context);
  const reported = new Set<BoundNode>();
  for (const { index } of model.nodes) {
    const node = context.node(index);
    if (reported.has(node)) continue;
    const reportFirst = (call: BoundNode["call"] | undefined, taintAt: () => Taint): boolean => {
      for (const sink of sinksOf(call)) {
        const source = taintOf(sink.expression, taintAt(), node, sink.wanted);
        if (source === undefined) continue;
        reported.add(node);
        report(context, node, sink, source);
        return true;
      }
      return false;
    };
    if (!node.pauseBefore && reportFirst(node.call, () => before[index]!)) continue;
    reportFirst(node.undo?.call, () => inUndo(index));
  }
}

interface Sink extends Part {
  readonly value: TypedExpression;
  readonly effect: string;
  /** The origin of the untrusted text that is reported. */
  readonly wanted: "model" | "any";
}

function sinksOf(call: BoundNode["call"] | undefined): readonly Sink[] {
  if (call?.kind !== "builtin") return [];
  const whole = (
    effect: (argument: BoundArgument) => string,
    isSink: (argument: BoundArgument) => boolean = () => true,
  ): readonly Sink[] =>
    call.args.filter(isSink).map((argument) => ({
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
          : unquotedParts(value.expression).map((part) => ({
              ...part,
              value,
              effect: "a shell command",
              wanted: "any" as const,
            })),
      );
    case "tool":
      return whole(() => "a tool call");
    case "file":
      return whole(
        () => "the path of a file",
        ({ name }) => PATHS.has(name),
      );
    case "http":
      return whole(({ name }) => (name === "url" ? "the address of a request" : "a request"));
    default:
      return [];
  }
}

/** The parameters of `file` that are paths. */
const PATHS: ReadonlySet<string> = new Set(["read", "write", "glob"]);

interface Part {
  readonly expression: Expression;
  /** The program that reads the quoted part as code: a second shell, or another interpreter. */
  readonly interpreter?: string;
}

/** The parts of a command that a shell runs as they are, and those that an interpreter in the command runs. */
function unquotedParts(command: Expression): readonly Part[] {
  switch (command.op) {
    case "const":
      return [];
    case "if":
      return [...unquotedParts(command.then), ...unquotedParts(command.else)];
    case "template": {
      let before = "";
      let values = 0;
      return command.parts.flatMap((part) => {
        if (typeof part === "string") {
          before += part;
          return [];
        }
        const found = partOf(part, values++ < MAX_JUDGED ? before.slice(-MAX_BEFORE) : "");
        before += "x";
        return found === undefined ? [] : [found];
      });
    }
    case "list":
      return argumentsOf(command.items);
    default:
      return [{ expression: command }];
  }
}

/** Values of a command that are compared with the names of interpreters, and the text before each: bounds the time. */
const MAX_JUDGED = 200;
const MAX_BEFORE = 500;

function partOf(part: Expression, before: string): Part | undefined {
  if (!isQuoted(part) || part.op !== "library") return { expression: part };
  const [expression, place] = part.args;
  if (expression === undefined || place?.op !== "const") return undefined;
  const isInQuotes = place.value === "double" || place.value === "single";
  const interpreter = READS_ARGUMENTS.exec(before)?.[1] ?? (isInQuotes ? READS_TEXT : READS_WORD).exec(before)?.[1];
  return interpreter === undefined ? undefined : { expression, interpreter };
}

/** Programs that run the text after `-c` or `-e`. */
const INTERPRETERS = "(?:ba|da|k|z)?sh|su|python3?|node|perl|ruby";
/** A value in the quoted text after `-c`, and one that is the text. Values before it are `x`. */
const READS_TEXT = new RegExp(
  `(?:^|[\\s;&|(/])(${INTERPRETERS})\\s(?:[^;&|\\n"']*\\s)?-\\w{0,8}[ce]\\s+(?:"[^"]*|'[^']*)$`,
);
const READS_WORD = new RegExp(`(?:^|[\\s;&|(/])(${INTERPRETERS})\\s(?:[^;&|\\n"']*\\s)?-\\w{0,8}[ce]\\s+$`);
/** Programs that join their arguments to a command. */
const READS_ARGUMENTS = /(?:^|[\s;&|(/])(ssh|eval)\s[^;&|\n]*$/;

/**
 * The items of a list that can be its program (spread lists may be empty), and those that the program runs as a command.
 */
function argumentsOf(items: Extract<Expression, { op: "list" }>["items"]): readonly Part[] {
  const programs = items.findIndex((item) => !("spread" in item));
  const found: Part[] = items
    .slice(0, programs === -1 ? undefined : programs + 1)
    .map((item) => ({ expression: "spread" in item ? item.spread : item }));
  const text = items.map((item) => ("op" in item && item.op === "const" ? String(item.value) : "x"));
  items.forEach((item, index) => {
    if (index === 0 || index > MAX_JUDGED || "spread" in item) return;
    const before = `${text.slice(0, index).join(" ").slice(-MAX_BEFORE)} `;
    const interpreter = READS_ARGUMENTS.exec(before)?.[1] ?? READS_WORD.exec(before)?.[1];
    if (interpreter !== undefined) found.push({ expression: item, interpreter });
  });
  return found;
}

function report(context: CheckContext, node: BoundNode, { value, effect, interpreter }: Sink, source: Source): void {
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
  context.report(
    untrustedCommand(context.place(span), { what: source.what, channel: name, node: node.name, interpreter, labels }),
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
