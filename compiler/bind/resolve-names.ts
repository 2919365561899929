/** Resolves names at one place of a graph: where a node starts, or where its edges are chosen. */
import { kebabRead, unknownChannel } from "../../diagnostics/catalog/names.ts";
import { readBeforeWrite, unknownExpressionFunction } from "../../diagnostics/catalog/types.ts";
import { suggest } from "../../diagnostics/similar.ts";
import type { Span } from "../../diagnostics/source.ts";
import { nodeSignatures } from "../../stdlib/signatures.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";
import { librarySignatures } from "../expressions/library-signatures.ts";
import { NO_FACTS } from "../expressions/facts.ts";
import { RAW } from "../expressions/type-command.ts";
import type { CalleeBinding, ExpressionScope, NameBinding, Names } from "../expressions/scope.ts";
import { nullable } from "../types/construct.ts";
import { ATTEMPT_FAILURE_TYPE, ERROR_TYPE, OUTCOME_TYPE } from "../types/failure-types.ts";
import { typeToText } from "../types/type-text.ts";
import { alternatives } from "../types/type-table.ts";
import { isPoisoned, namesOf, KIND_NAMES, markMeantAsUsed } from "./file-scope.ts";
import type { SiteFlow } from "../control/flow.ts";
import { isSilenced, placeIn, useFunction, type ChannelEntry, type GraphContext } from "./graph-context.ts";

export interface Place {
  readonly flow: SiteFlow;
  /** For messages: "`draft`", "the edges of `draft`". */
  readonly reader: string;
  /** Names that hide channels here: the item of a `for`. */
  readonly locals: ReadonlyMap<string, ValueType>;
  /** The help for a channel that is not written here, if there is a specific one. */
  readonly adviceOn?: (channel: string) => string | undefined;
}

/** The scope of an expression outside of every `for`, without facts. */
export function scopeAt(place: Place, context: GraphContext): ExpressionScope {
  return {
    file: context.file,
    types: context.types,
    names: createNames(place, context),
    report: context.report,
    suggestions: context.suggestions,
    where: "argument",
    locals: place.locals,
    facts: NO_FACTS,
    reads: new Set(),
    depth: 0,
  };
}

export function createNames(place: Place, context: GraphContext): Names {
  /** Channels that have been reported for this place: mostly none. */
  let names: Set<string> | undefined;
  const reported: Reported = {
    has: (name) => names?.has(name) === true,
    add: (name) => void (names ??= new Set()).add(name),
  };
  return {
    value: (name, span) => valueAt(name, span, place, reported, context),
    callee: (name) => calleeOf(name, context),
    unknownValue: (name, span) => reportUnknownValue(name, span, place, context),
    unknownCallee: ({ name, span }) => {
      if (isPoisoned(name, context.scope)) return;
      const known = [...librarySignatures.keys()];
      const { similar } = suggest(
        name,
        () => [...namesOf("import", context.scope), ...known],
        context.scope.suggestions,
      );
      const help = context.channels.has(name)
        ? `\`${name}\` is a channel: read it without parentheses`
        : name === RAW
          ? "`raw(text)` marks a command: it is written as the command of `shell`, or directly inside of `${…}` in it"
          : name === "status" && context.noun === "task"
            ? "`status(task)` is written in the `when` of a task: let a task of its own handle each status"
            : undefined;
      markMeantAsUsed(similar, context.scope);
      context.report(unknownExpressionFunction(placeIn(context, span), { name, similar, known, help }));
    },
    leaveToTypeScript: (check) => context.typeScriptChecks.push(check),
    unwrittenPassedOn: (channel, span) => {
      if (reported.has(channel)) return;
      reported.add(channel);
      reportUnwritten(channel, span, "sometimes", place, context);
    },
  };
}

interface Reported {
  has(name: string): boolean;
  add(name: string): void;
}

function valueAt(
  name: string,
  span: Span,
  place: Place,
  reported: Reported,
  context: GraphContext,
): NameBinding | undefined {
  const channel = context.channels.get(name);
  if (channel !== undefined) return channelAt(channel, span, place, reported, context);
  // A task of a plan has no edges: it reads why its own previous attempt has failed.
  if (context.noun === "task" && name === "failure") return { kind: "error", type: nullable(ATTEMPT_FAILURE_TYPE) };
  if (context.noun === "node" && name === "error") {
    return { kind: "error", type: place.flow.error === "always" ? ERROR_TYPE : nullable(ERROR_TYPE) };
  }
  if (name === "outcome") {
    return { kind: "outcome", type: place.flow.outcome === "always" ? OUTCOME_TYPE : nullable(OUTCOME_TYPE) };
  }
  const declared = context.scope.names.get(name);
  if (declared?.kind === "secret") {
    context.scope.used.add(name);
    return { kind: "secret" };
  }
  if (declared?.kind === "broken") return { kind: "poisoned" };
  return isSilenced(name, context) ? { kind: "poisoned" } : undefined;
}

function channelAt(
  channel: ChannelEntry,
  span: Span,
  place: Place,
  reported: Reported,
  context: GraphContext,
): NameBinding {
  const { name, index, type } = channel;
  let unwritten = place.flow.unwritten.get(index);
  // A memory channel keeps what an earlier run of the thread wrote.
  if (unwritten === "always" && channel.role === "memory" && context.written.has(name)) unwritten = "sometimes";
  if (unwritten === "sometimes") return { kind: "channel", index, type: nullable(type), unwritten: true };
  if (unwritten === "always" && !reported.has(name)) {
    reported.add(name);
    reportUnwritten(name, span, "always", place, context);
  }
  return { kind: "channel", index, type };
}

function reportUnwritten(
  name: string,
  span: Span,
  when: "always" | "sometimes",
  place: Place,
  context: GraphContext,
): void {
  const channel = context.channels.get(name);
  if (channel === undefined) return;
  const { declaration } = channel;
  const isWritten = context.written.has(name);
  const declared = { ...placeIn(context, declaration.name.span), message: "starts as `null`: it has no default" };
  context.report(
    readBeforeWrite(placeIn(context, span), {
      channel: name,
      reader: place.reader,
      when: when === "always" && !isWritten ? "no writer" : when,
      type: typeToText(channel.type),
      declared,
      help: place.adviceOn?.(name),
    }),
  );
}

/** Imports and graphs of the file come first: they hide built-in names, as in TypeScript. */
function calleeOf(name: string, context: GraphContext): CalleeBinding | undefined {
  const declared = context.scope.names.get(name);
  switch (declared?.kind) {
    case "import":
      context.scope.used.add(name);
      return {
        kind: "import",
        spec: declared.spec,
        index: useFunction(declared.spec, context),
        signatures: declared.signatures(),
      };
    case "graph":
    case "plan":
      context.scope.used.add(name);
      return { kind: "node" };
    case "broken":
      return { kind: "poisoned" };
    default:
      if (nodeSignatures.has(name)) return { kind: "node", isBuiltin: true };
      return undefined;
  }
}

/** Objects that hold the environment in other languages. */
const ENVIRONMENTS: ReadonlySet<string> = new Set(["process", "env", "os", "Deno", "Bun"]);

/** Reports each name once: a name that is read in several places is most likely misspelt where it is declared. */
function reportUnknownValue(name: string, span: Span, place: Place, context: GraphContext): void {
  context.poisoned.add(name);
  const at = placeIn(context, span);
  const { similar, known } = suggest(
    name,
    () => [
      ...place.locals.keys(),
      ...context.channels.keys(),
      ...context.derived.keys(),
      ...namesOf("secret", context.scope),
      ...namesOf("const", context.scope),
    ],
    context.scope.suggestions,
  );
  const kebab = kebabName(span, at.file.text, context, place);
  if (kebab !== undefined) {
    // Each part of the subtraction is unknown, but it is one mistake.
    if (context.poisoned.has(kebab.name)) return;
    context.poisoned.add(kebab.name);
    context.report(kebabRead({ file: at.file, span: kebab.span }, kebab.name));
    return;
  }
  const node = context.nodes.get(name);
  const declared = context.scope.names.get(name);
  if (node !== undefined) {
    const { output } = node.declaration;
    const written =
      output === undefined
        ? []
        : output.kind === "ChannelOutput"
          ? [output.channel.name]
          : output.fields.map((field) => field.channel.name);
    const help =
      written.length === 0
        ? `\`${name}\` is a ${context.noun}: store its result with \`into\` and read that channel`
        : `\`${name}\` is a ${context.noun}: read what it writes, \`${written.join("`, `")}\``;
    context.report(unknownChannel(at, { name, use: "read", known, help }));
    return;
  }
  if (declared !== undefined) {
    context.scope.used.add(name);
    const how =
      declared.kind === "import"
        ? `: call it, \`${name}(…)\``
        : declared.kind === "graph" || declared.kind === "plan"
          ? `: call it in a ${context.noun}, \`${context.noun} a = ${name}() into …\``
          : "";
    const help = `\`${name}\` is ${KIND_NAMES[declared.kind]}${how}`;
    context.report(unknownChannel(at, { name, use: "read", known, help }));
    return;
  }
  if (similar === undefined && known.length > 0 && isEnumValue(name, context)) {
    const text = JSON.stringify(name);
    context.report(
      unknownChannel(at, { name, use: "read", known, help: `did you mean the string ${text}?`, fix: text }),
    );
    return;
  }
  const elsewhere = elsewhereName(name, context);
  if (elsewhere !== undefined) {
    context.report(unknownChannel(at, { name, use: "read", known, help: elsewhere }));
    return;
  }
  if (ENVIRONMENTS.has(name) && at.file.text[span.end] === ".") {
    const help = "a variable of the environment is declared beside the graph, `secret KEY`, and read by its name";
    context.report(unknownChannel(at, { name, use: "read", known, help }));
    return;
  }
  const literal = FOREIGN_LITERALS.get(name);
  if (literal !== undefined && (similar === undefined || literal !== "null")) {
    const help = literal === "null" ? "what is not there is `null`" : `write \`${literal}\``;
    context.report(unknownChannel(at, { name, use: "read", known, help, fix: literal }));
    return;
  }
  if (PREFIXES.has(name) && at.file.text[span.end] === ".") {
    const help = "a channel is read by its name alone, without a prefix";
    context.report(unknownChannel(at, { name, use: "read", known, help }));
    return;
  }
  context.report(unknownChannel(at, { name, use: "read", similar, known }));
}

/** The help for a name that exists in graphs only, or in plans only. */
function elsewhereName(name: string, { noun }: GraphContext): string | undefined {
  if (noun === "task" && name === "error") return "in a task, `failure` is why the previous attempt has failed";
  if (noun === "task" && name === "status") return '`status(a)` is how the task `a` ended: `status(a) == "done"`';
  if (noun === "node" && name === "failure")
    return "in a graph, `error` is the last failure that an `on error` edge took";
  return undefined;
}

/** Names of literals in other languages. */
const FOREIGN_LITERALS: ReadonlyMap<string, string> = new Map([
  ["undefined", "null"],
  ["None", "null"],
  ["nil", "null"],
  ["NULL", "null"],
  ["True", "true"],
  ["TRUE", "true"],
  ["False", "false"],
  ["FALSE", "false"],
]);

/** Objects that hold the state in other frameworks: `state.draft`. */
const PREFIXES: ReadonlySet<string> = new Set([
  "this",
  "self",
  "state",
  "input",
  "inputs",
  "output",
  "outputs",
  "memory",
  "ctx",
  "context",
  "steps",
  "nodes",
]);

/** The kebab-case name that the subtraction around a name spells, if a value has that name with `_`: `my-state`. */
function kebabName(span: Span, text: string, context: GraphContext, place: Place) {
  let { start, end } = span;
  while (end < text.length && /[\w-]/.test(text[end] ?? "")) end += 1;
  while (start > 0 && /[\w-]/.test(text[start - 1] ?? "")) start -= 1;
  const parts = text.slice(start, end).split("-");
  const name = parts.join("_");
  if (parts.length === 1 || parts.includes("") || end - start > LONGEST_NAME) return undefined;
  const exists = context.channels.has(name) || context.derived.has(name) || place.locals.has(name);
  return exists ? { name, span: { start, end } } : undefined;
}

const LONGEST_NAME = 200;

/** Whether a name is a value of some channel's enum, written without quotes. */
function isEnumValue(name: string, context: GraphContext): boolean {
  for (const channel of context.channels.values()) {
    const members = alternatives(channel.type, context.types);
    if (members.some((member) => member.kind === "literal" && member.value === name)) return true;
  }
  return false;
}
