/** The call of a node: an imported function, a built-in node, a graph, or a pure expression. */
import {
  argumentOfOtherForm,
  missingArguments,
  positionalGraphArgument,
  repeatedArgument,
  tooManyArguments,
  unknownArgument,
  unknownFunction,
  wrongSortOfName,
} from "../../diagnostics/catalog/names.ts";
import { notDuration, plainDuration } from "../../diagnostics/catalog/types.ts";
import { inOneUnit, unitOf } from "../../grammar/literals.ts";
import { findSimilar, suggest } from "../../diagnostics/similar.ts";
import type * as Ast from "../../grammar/ast.ts";
import type { Effect } from "../../runtime/table/table.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";
import type { NodeSignature, Parameter } from "../../stdlib/signature.ts";
import { nodeSignatures } from "../../stdlib/signatures.ts";
import type { BoundArgument, BoundChannel, BoundGraph } from "./bound-graph.ts";
import type { BoundPlan, BoundTaskCall } from "./plan/bound-plan.ts";
import { librarySignatures } from "../expressions/library-signatures.ts";
import { passesContext } from "../expressions/passes-context.ts";
import type { ExpressionScope, Typed } from "../expressions/scope.ts";
import { typeFunctionArguments } from "../expressions/type-call.ts";
import { reportUnwritten } from "../expressions/typed.ts";
import { hasQuotedValue, typeCommand } from "../expressions/type-command.ts";
import { typeExpression } from "../expressions/type-expression.ts";
import { BOOL, nullable, recordOf } from "../types/construct.ts";
import { isPoisoned, namesOf, KIND_NAMES, type Declared, markMeantAsUsed } from "./file-scope.ts";
import { reportMisfit } from "../expressions/fit-value.ts";
import { placeIn, useFunction, type GraphContext } from "./graph-context.ts";
import { checkServers, checkToolCall } from "./bind-mcp.ts";
import { bindTools } from "./bind-tools.ts";
import { requestEffects } from "./request-hosts.ts";
import { toTypedExpression } from "./typed-expression.ts";

export interface CallResult {
  readonly call: BoundTaskCall;
  /** `infer`: derived from the channels of `into`; `undefined`: unknown. */
  readonly result: ValueType | "infer" | undefined;
  readonly effects: readonly Effect[];
  /** Name of the function, built-in node or graph. */
  readonly callee?: string;
  /** What the called tool declares of a result that is inferred. */
  readonly declared?: ValueType | undefined;
  /** The channel because of whose missing write an expression may be null. */
  readonly unwritten?: string | undefined;
}

export function bindCall(syntax: Ast.Expr, scope: ExpressionScope, context: GraphContext): CallResult {
  if (syntax.kind !== "Call") return bindExpression(syntax, scope, context);
  const { callee } = syntax;
  const declared = context.scope.names.get(callee.name);
  if (declared !== undefined) {
    context.scope.used.add(callee.name);
    return bindDeclared(syntax, declared, scope, context);
  }
  const signature = nodeSignatures.get(callee.name);
  if (signature !== undefined) return bindBuiltin(syntax, signature, scope, context);
  if (librarySignatures.has(callee.name)) return bindExpression(syntax, scope, context);
  typeAll(syntax, scope);
  if (!isPoisoned(callee.name, context.scope)) {
    const { scope: file } = context;
    const all = (): string[] => [...namesOf("import", file), ...namesOf("graph", file), ...nodeSignatures.keys()];
    const { similar: own, known } = suggest(callee.name, all, file.suggestions);
    const similar = own ?? findSimilar(callee.name, librarySignatures.keys());
    markMeantAsUsed(similar, file);
    context.report(unknownFunction(placeIn(context, callee.span), { name: callee.name, similar, known }));
  }
  return BROKEN;
}

const BROKEN: CallResult = { call: { kind: "broken" }, result: undefined, effects: [] };

function bindExpression(syntax: Ast.Expr, scope: ExpressionScope, context: GraphContext): CallResult {
  const typed = typeExpression(syntax, scope);
  const expression = toTypedExpression(typed, context);
  return { call: { kind: "expression", expression }, result: typed.type, effects: [], unwritten: typed.unwritten };
}

function bindDeclared(
  syntax: Ast.CallExpr,
  declared: Declared,
  scope: ExpressionScope,
  context: GraphContext,
): CallResult {
  const { callee } = syntax;
  switch (declared.kind) {
    case "import": {
      useFunction(declared.spec, context);
      const signatures = declared.signatures();
      const { args: typed, signature } = typeFunctionArguments(syntax, signatures, scope, typeExpression);
      const args = typed.map((arg) => toTypedExpression(arg, context));
      const call: BoundTaskCall =
        signature === undefined || passesContext(args.length, signature, signatures, scope.types)
          ? { kind: "function", function: declared.spec, args }
          : { kind: "function", function: declared.spec, args, withoutContext: true };
      return { call, result: signature?.result, effects: ["code"], callee: callee.name };
    }
    case "graph": {
      const graph = context.boundGraph(declared.unit);
      if (graph === undefined) {
        typeAll(syntax, scope);
        return BROKEN;
      }
      const { args, result } = bindOwnCall(syntax, graph, scope, context);
      context.called.add(graph);
      return { call: { kind: "graph", graph, args }, result, effects: effectsOf(graph), callee: callee.name };
    }
    case "plan": {
      const plan = context.boundPlan(declared.unit);
      if (plan === undefined) {
        typeAll(syntax, scope);
        return BROKEN;
      }
      const { args, result } = bindOwnCall(syntax, plan, scope, context);
      context.calledPlans.add(plan);
      return { call: { kind: "plan", plan, args }, result, effects: effectsOf(plan), callee: callee.name };
    }
    case "broken":
      typeAll(syntax, scope);
      return BROKEN;
    default: {
      typeAll(syntax, scope);
      const place = placeIn(context, callee.span);
      context.report(
        wrongSortOfName(place, { name: callee.name, is: KIND_NAMES[declared.kind], expected: "a function" }),
      );
      return BROKEN;
    }
  }
}

/**
 * Types the arguments of an unknown callee, so that their own errors are reported and the channels they read count as
 * read.
 */
function typeAll(syntax: Ast.CallExpr, scope: ExpressionScope): void {
  for (const argument of syntax.args) typeExpression(argument.value, scope);
}

function bindBuiltin(
  syntax: Ast.CallExpr,
  signature: NodeSignature,
  scope: ExpressionScope,
  context: GraphContext,
): CallResult {
  const callee = { name: signature.name, parameters: signature.parameters, isGraph: false };
  const args = withQuoting(bindArguments(syntax, callee, scope, context));
  const { needs = Object.keys(signature.forms ?? {}) } = signature;
  // Arguments with errors are not bound, and have been reported.
  const argumentOf = (name: string): Ast.Expr | undefined =>
    syntax.args.find((argument, index) => (argument.name?.name ?? signature.parameters[index]?.name) === name)?.value;
  const isGiven = signature.parameters.filter(({ isTools }) => isTools === true).map(({ name }) => argumentOf(name));
  const tools = isGiven.some((each) => each !== undefined)
    ? bindTools(argumentOf("tools"), argumentOf("approve"), context)
    : undefined;
  const bound = args.length + isGiven.filter((each) => each !== undefined).length;
  const isShort = bound === syntax.args.length && !args.some(({ name }) => needs.includes(name));
  if (needs.length > 0 && isShort) {
    context.report(
      missingArguments(placeIn(context, syntax.callee.span), { callee: signature.name, missing: [needs] }),
    );
  }
  const call: BoundTaskCall = { kind: "builtin", signature, args, ...(tools === undefined ? {} : { tools }) };
  const own = signature.name === "http" ? requestEffects(args) : signature.effects;
  const effects: readonly Effect[] =
    tools === undefined
      ? own
      : [
          ...own,
          ...tools.flatMap((tool): readonly Effect[] => ("graph" in tool ? effectsOf(tool.graph) : ["code"])),
          ...(tools.some(({ approval }) => approval) ? (["person"] as const) : []),
        ];
  if (signature.name === "llm") checkServers(args, argumentOf, context);
  const declared = signature.name === "tool" ? checkToolCall(syntax, args, argumentOf, context) : undefined;
  const result = resultOfForm(syntax, signature, context);
  return { call, result, effects, callee: signature.name, ...(declared === undefined ? {} : { declared }) };
}

/** The result of a call. Reports arguments that the form of the call lacks, and those of other forms. */
function resultOfForm(
  syntax: Ast.CallExpr,
  signature: NodeSignature,
  context: GraphContext,
): NodeSignature["result"] | undefined {
  const { forms, name: callee, parameters } = signature;
  if (forms === undefined) return signature.result;
  const names = syntax.args.map(({ name }, index) => name?.name ?? parameters[index]?.name);
  const position = names.findIndex((name) => name !== undefined && Object.hasOwn(forms, name));
  const selected = names[position];
  const form = selected === undefined ? undefined : forms[selected];
  // `needs` is reported by the caller.
  if (selected === undefined || form === undefined) return undefined;
  const { needs = [], takes = [] } = form;
  const missing = needs.filter((name) => !names.includes(name));
  if (missing.length > 0) {
    context.report(missingArguments(placeIn(context, syntax.callee.span), { callee, missing }));
  }
  const known = new Set(parameters.map(({ name }) => name));
  names.forEach((name, index) => {
    const isOwn = name === selected || name === undefined || needs.includes(name) || takes.includes(name);
    // `bindArguments` reports unknown names.
    if (isOwn || !known.has(name)) return;
    const first = placeIn(context, syntax.args[position]!.span);
    const facts = { callee, name, selected, first, isForm: Object.hasOwn(forms, name) };
    context.report(argumentOfOtherForm(placeIn(context, syntax.args[index]!.span), facts));
  });
  return form.result;
}

/** Adds `quoted: true` to a command with quoted values. `cmd.exe` reads other quotes, so `shell` refuses it on Windows. */
function withQuoting(args: readonly BoundArgument[]): readonly BoundArgument[] {
  const command = args.find(({ name }) => name === "command");
  if (command === undefined || !hasQuotedValue(command.value.expression)) return args;
  return withMark(args, "quoted");
}

/** Adds an argument to a command that only the compiler states, with the value `true`. */
export function withMark(args: readonly BoundArgument[], name: "quoted" | "interactive"): readonly BoundArgument[] {
  const command = args.find((arg) => arg.name === "command");
  if (command === undefined) return args;
  const value = { ...command.value, expression: { op: "const", value: true }, type: BOOL, reads: [] } as const;
  return [...args, { name, value }];
}

/** The call of a graph or plan: its inputs are the parameters, its outputs the result. */
function bindOwnCall(
  syntax: Ast.CallExpr,
  called: BoundGraph | BoundPlan,
  scope: ExpressionScope,
  context: GraphContext,
): { args: readonly BoundArgument[]; result: ValueType } {
  const channels: readonly BoundChannel[] = called.channels;
  const inputs = channels.filter((channel) => channel.role === "input");
  const parameters = inputs.map((channel): Parameter => {
    const { name, type } = channel;
    return channel.initial === undefined ? { name, type } : { name, type, optional: true };
  });
  const place = { file: called.file, span: called.declaration.name.span };
  const config = new Set(called.config.map(({ channel }) => channel.name));
  const callee = { name: syntax.callee.name, parameters, isGraph: true, declared: place, config };
  const args = bindArguments(syntax, callee, scope, context);
  const outputs = channels.filter((channel) => channel.role === "output");
  const result = recordOf(
    outputs.map(({ name, type, mayEndNull }) => ({ name, type: mayEndNull === true ? nullable(type) : type })),
  );
  return { args, result };
}

/** The effects of a graph or plan and of all that it calls. Cached: many nodes may call a large graph. */
function effectsOf(called: BoundGraph | BoundPlan): readonly Effect[] {
  const known = knownEffects.get(called);
  if (known !== undefined) return known;
  const parts: readonly { readonly effects: readonly Effect[] }[] = "tasks" in called ? called.tasks : called.nodes;
  const effects = new Set(parts.flatMap((part) => part.effects));
  if (called.functions.length > 0) effects.add("code");
  const sorted = [...effects].sort();
  knownEffects.set(called, sorted);
  return sorted;
}
const knownEffects = new WeakMap<BoundGraph | BoundPlan, readonly Effect[]>();

interface Callee {
  readonly name: string;
  readonly parameters: readonly Parameter[];
  readonly isGraph: boolean;
  /** Names of the configuration of a graph. */
  readonly config?: ReadonlySet<string>;
  readonly declared?: { readonly file: GraphContext["file"]; readonly span: Ast.Identifier["span"] };
}

/** Binds arguments by name. Reports each error once, at the argument that has it. */
function bindArguments(
  syntax: Ast.CallExpr,
  callee: Callee,
  scope: ExpressionScope,
  context: GraphContext,
): readonly BoundArgument[] {
  const known = callee.parameters.map(({ name }) => name);
  const byName = new Map(callee.parameters.map((parameter) => [parameter.name, parameter]));
  const given = new Map<string, Ast.Argument>();
  const bound: BoundArgument[] = [];
  let isClean = true;
  for (const [position, argument] of syntax.args.entries()) {
    const parameter = argument.name === undefined ? callee.parameters[position] : byName.get(argument.name.name);
    // `bindTools` binds it.
    if (parameter?.isTools === true && !given.has(parameter.name)) {
      given.set(parameter.name, argument);
      continue;
    }
    const typed = (parameter?.isCommand === true ? typeCommand : typeExpression)(argument.value, scope);
    const problem = argumentProblem(argument, parameter, callee, known, given, context);
    if (problem !== undefined || parameter === undefined) {
      if (problem !== undefined) context.report(problem);
      isClean = false;
      continue;
    }
    given.set(parameter.name, argument);
    checkArgument(typed, parameter, callee, scope, context);
    bound.push({ name: parameter.name, value: toTypedExpression(typed, context) });
  }
  const missing = callee.parameters.filter(({ name, optional }) => optional !== true && !given.has(name));
  // Where an argument has a wrong name, it is most likely the missing one.
  if (missing.length > 0 && isClean) {
    const facts = { callee: callee.name, missing: missing.map(({ name }) => name), declared: callee.declared };
    context.report(missingArguments(placeIn(context, syntax.callee.span), facts));
  }
  return bound;
}

function argumentProblem(
  argument: Ast.Argument,
  parameter: Parameter | undefined,
  callee: Callee,
  known: readonly string[],
  given: ReadonlyMap<string, Ast.Argument>,
  context: GraphContext,
): ReturnType<typeof unknownArgument> | undefined {
  const place = placeIn(context, argument.name?.span ?? argument.span);
  if (argument.name === undefined && callee.isGraph) {
    const text = context.file.text.slice(argument.span.start, argument.span.end);
    return positionalGraphArgument(place, { callee: callee.name, inputs: known, text: text.length > 30 ? "…" : text });
  }
  if (parameter === undefined) {
    if (argument.name === undefined) return tooManyArguments(place, { callee: callee.name, known });
    const { name } = argument.name;
    if (callee.config?.has(name) === true) {
      const help = `remove it: a run supplies its configuration to all graphs, \`--config ${name}=VALUE\``;
      return unknownArgument(place, { callee: callee.name, name, known, help });
    }
    return unknownArgument(place, {
      callee: callee.name,
      name,
      ...suggest(name, () => known, context.scope.suggestions),
      help: policyHelp(name, argument, context),
    });
  }
  const first = given.get(parameter.name);
  if (first === undefined) return undefined;
  return repeatedArgument(place, { callee: callee.name, name: parameter.name, first: placeIn(context, first.span) });
}

/** For an argument such as `timeout`: retries, timeouts and caching are policies in braces. */
function policyHelp(name: string, argument: Ast.Argument, context: GraphContext): string | undefined {
  const policy = POLICIES.get(name.toLowerCase());
  if (policy === undefined) return undefined;
  const { start, end } = argument.value.span;
  const text = context.file.text.slice(start, end);
  return `\`${policy}\` is a policy, in braces at the end: \`{ ${policy} ${text.length > 20 ? "…" : text} }\``;
}

const POLICIES: ReadonlyMap<string, string> = new Map([
  ["timeout", "timeout"],
  ["tries", "tries"],
  ["retries", "tries"],
  ["retry", "tries"],
  ["cache", "cache for"],
]);

function checkArgument(
  typed: Typed,
  parameter: Parameter,
  callee: Callee,
  scope: ExpressionScope,
  context: GraphContext,
): void {
  const target = `argument \`${parameter.name}\` of \`${callee.name}\``;
  const duration = parameter.isDuration === true ? durationMeant(typed.syntax) : undefined;
  if (duration !== undefined) {
    context.report(
      duration.isPlain
        ? plainDuration(placeIn(context, typed.syntax.span), { target, ...duration })
        : notDuration(placeIn(context, typed.syntax.span), { target, ...duration }),
    );
    return;
  }
  if (!reportMisfit(typed, parameter.type, { target }, context)) return;
  if (parameter.type.kind === "json") reportUnwritten(typed, scope);
}

/** What a literal that is no duration most likely means. A plain number is milliseconds. */
function durationMeant(syntax: Ast.Expr): { readonly isPlain: boolean; readonly use: string | undefined } | undefined {
  switch (syntax.kind) {
    case "Number": {
      const { value } = syntax;
      if (Number.isInteger(value)) return value === 0 ? undefined : { isPlain: true, use: `${value}ms` };
      return { isPlain: false, use: Number.isSafeInteger(value * 1000) ? `${value * 1000}ms` : undefined };
    }
    case "String": {
      const written = /^(\d+(?:\.\d+)?)\s*([A-Za-z]+)$/.exec(syntax.value.trim());
      const unit = written === null ? undefined : unitOf(written[2] ?? "");
      return { isPlain: false, use: unit === undefined ? inOneUnit(syntax.value) : `${written?.[1]}${unit}` };
    }
    case "Unary":
      return syntax.operator === "-" && syntax.operand.kind === "Number"
        ? { isPlain: false, use: undefined }
        : undefined;
    default:
      return undefined;
  }
}
