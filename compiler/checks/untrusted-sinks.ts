/** The arguments of built-in nodes that decide what a node does to other systems, and the parts of commands that a shell runs. */
import type { Expression } from "../../runtime/expression/expression.ts";
import type { BoundArgument, BoundNode, TypedExpression } from "../bind/bound-graph.ts";
import { isQuoted } from "../expressions/type-command.ts";
import type { Wanted } from "./untrusted-text.ts";

export interface Sink extends Part {
  readonly value: TypedExpression;
  readonly effect: string;
  /** The origin of the untrusted text that is reported. */
  readonly wanted: Wanted;
}

/** The sinks of a call of a built-in node, the most dangerous first. */
export function sinksOf(call: BoundNode["call"] | undefined): readonly Sink[] {
  if (call?.kind !== "builtin") return [];
  const whole = (effect: string, wanted: Wanted, names?: ReadonlySet<string>): readonly Sink[] =>
    call.args
      .filter(({ name }) => names === undefined || names.has(name))
      .map(({ value }) => ({ expression: value.expression, value, effect, wanted }));
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
      return whole("a tool call", "model");
    case "file":
      return whole(PATH, "foreign", PATHS);
    case "http":
      return [...hostSinks(call.args), ...whole("a request", "model")];
    default:
      return [];
  }
}

/** Effects that messages give advice for. */
export const HOST = "the host of a request";
export const PATH = "the path of a file";

/** The parameters of `file` that are paths. */
const PATHS: ReadonlySet<string> = new Set(["read", "write", "glob"]);

/** The parts of an address that decide which host is requested. The options `hosts` and `private: false` restrict it. */
function hostSinks(args: readonly BoundArgument[]): readonly Sink[] {
  const valueOf = (name: string): TypedExpression | undefined => args.find((argument) => argument.name === name)?.value;
  const sink = (value: TypedExpression, expression: Expression): Sink => ({
    expression,
    value,
    effect: HOST,
    wanted: "foreign",
  });
  const hosts = valueOf("hosts");
  if (hosts !== undefined && hosts.type.kind !== "null") return [sink(hosts, hosts.expression)];
  const reach = valueOf("private")?.expression;
  const url = valueOf("url");
  if (url === undefined || (reach?.op === "const" && reach.value === false)) return [];
  return hostParts(url.expression).map((expression) => sink(url, expression));
}

function hostParts(url: Expression): readonly Expression[] {
  if (url.op === "const") return [];
  if (url.op === "if") return [...hostParts(url.then), ...hostParts(url.else)];
  const found: Expression[] = [];
  let text = "";
  for (const part of partsOfText(url)) {
    if (typeof part === "string") text += part;
    else if (part.op === "const") text += String(part.value);
    else if (HAS_HOST.test(text)) break;
    else if (found.length === MAX_JUDGED) return [url];
    else {
      found.push(part);
      text += VALUE;
    }
  }
  return found;
}

/** Stands for a value in an address. */
const VALUE = "x";
/** An address that contains its host and the character after it. A value at the beginning may contain the scheme, too. */
const HAS_HOST = new RegExp(`^(?:[^/?#\\\\]*:[/\\\\]{2}[^/?#\\\\]+[/?#\\\\]|${VALUE}[^/?#:\\\\]*[/?#])`);

/** The parts of a template, or of a sum of texts. */
function partsOfText(expression: Expression): readonly (Expression | string)[] {
  const parts: (Expression | string)[] = [];
  let first = expression;
  // Sums nest to the left as deep as they are long.
  for (; first.op === "binary" && first.operator === "+"; first = first.left) parts.push(first.right);
  return [...(first.op === "template" ? first.parts : [first]), ...parts.reverse()];
}

export interface Part {
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

/** Values of a command or an address that are judged by the text before them, and the length of this text: bounds the time. */
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
