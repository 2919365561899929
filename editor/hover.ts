/** What an editor shows about a name: its declaration, its documentation, and what the compiler knows of it. */
import type { CompiledGraph } from "../compiler/compile.ts";
import type { BoundChannel, BoundGraph, BoundNode } from "../compiler/bind/bound-graph.ts";
import type { BoundPlan, BoundTask } from "../compiler/bind/plan/bound-plan.ts";
import { librarySignatures } from "../compiler/expressions/library-signatures.ts";
import { typeToText } from "../compiler/types/type-text.ts";
import { DIAGNOSTIC_CODES, type DiagnosticCode } from "../diagnostics/codes.ts";
import type { Span } from "../diagnostics/source.ts";
import type * as Ast from "../grammar/ast.ts";
import { nodeSignatures } from "../stdlib/signatures.ts";
import type { NodeSignature } from "../stdlib/signature.ts";
import type { CheckedDocument } from "./document.ts";
import { declarationsOf, namesAt } from "./navigate.ts";
import type { FileNames, NameIndex } from "./name-index.ts";
import { fileTarget, type NameUse } from "./names.ts";
import { readersIn } from "./readers.ts";

/** Markdown about the name at an offset, and the span of the name. */
export interface HoverText {
  readonly text: string;
  readonly span: Span;
}

/** The longest declaration that is shown, in characters. */
const LONGEST = 1200;

export function findHover(
  checked: CheckedDocument,
  file: FileNames,
  offset: number,
  index: NameIndex,
): HoverText | undefined {
  const [use] = namesAt(file, offset);
  if (use === undefined) return suppressedCodeAt(file.source.text, offset);
  const parts = describe(use, { checked, file, index }).filter((part) => part !== "");
  return parts.length === 0 ? undefined : { text: parts.join("\n\n"), span: use.span };
}

/** What a code means, in a comment `ngraph-ignore NG405`. */
function suppressedCodeAt(text: string, offset: number): HoverText | undefined {
  const start = offset - (/\w*$/.exec(text.slice(Math.max(0, offset - 10), offset))?.[0].length ?? 0);
  const name = /^NG\d{3}\b/.exec(text.slice(start, start + 10))?.[0];
  const line = text.slice(Math.max(text.lastIndexOf("\n", start), text.lastIndexOf("\r", start)) + 1, start);
  if (name === undefined || !/(?:#|\/\/|\/\*)\s*ngraph-ignore\b/.test(line) || !(name in DIAGNOSTIC_CODES))
    return undefined;
  const about = DIAGNOSTIC_CODES[name as DiagnosticCode];
  return { text: `\`${name}\` (\`${about.name}\`): ${about.title}.`, span: { start, end: start + name.length } };
}

/** What a hover is about. */
interface Asked {
  readonly checked: CheckedDocument;
  readonly file: FileNames;
  readonly index: NameIndex;
}

function describe(use: NameUse, asked: Asked): readonly string[] {
  switch (use.kind) {
    case "builtin":
      return ofBuiltin(nodeSignatures.get(use.name));
    case "library": {
      const usage = librarySignatures.get(use.name)?.usage;
      return usage === undefined ? [] : [code(usage), "A function of the expression library."];
    }
    default: {
      const exported = asked.index.exportOf(use.target);
      if (exported !== undefined) return [code(exported.text, "ts"), docOf(exported.source.text, exported.span.start)];
      return ofDeclared(use, asked);
    }
  }
}

/** `shell(command, cwd?, …)` with the types of its parameters. */
export function signatureText({ name, parameters }: NodeSignature): string {
  const shown = parameters.map((each) => `${each.name}${each.optional === true ? "?" : ""}: ${typeToText(each.type)}`);
  return `${name}(${shown.join(", ")})`;
}

function ofBuiltin(signature: NodeSignature | undefined): readonly string[] {
  if (signature === undefined) return [];
  const { effects, summary } = signature;
  const about = effects.length === 0 ? "" : `Effects: ${effects.join(", ")}.`;
  return [code(signatureText(signature)), `${capitalised(summary)}.`, about];
}

function ofDeclared(use: NameUse, asked: Asked): readonly string[] {
  const [place] = declarationsOf(use.target, asked.index);
  const owner = place === undefined ? undefined : asked.index.of(place.source.path);
  const declaration = owner === undefined ? undefined : declarationAt(owner.file, place!.span);
  const shown = declaration === undefined ? "" : code(firstLines(owner!.source.text, declaration));
  const doc = (declaration as { readonly doc?: Ast.DocComment } | undefined)?.doc?.text ?? "";
  return [shown, doc, ...facts(use, owner, asked)];
}

/** The declaration whose name is at a span. */
function declarationAt(file: Ast.File, name: Span): { readonly span: Span } | undefined {
  for (const item of file.items) {
    if ("name" in item && item.name.span.start === name.start) return item;
    if (item.kind !== "Graph" && item.kind !== "Plan") continue;
    for (const statement of item.statements) {
      if ("name" in statement && statement.name.span.start === name.start) return statement;
    }
  }
  return undefined;
}

/** The text of a declaration: of a graph or plan, the line that names it. */
function firstLines(
  text: string,
  declaration: {
    readonly span: Span;
    readonly kind?: string;
    readonly doc?: Ast.DocComment;
    readonly name?: { readonly span: Span };
  },
): string {
  const { span, doc, name = { span } } = declaration;
  // In YAML the documentation is one of the fields behind the name.
  const start = doc !== undefined && doc.span.end <= name.span.start ? Math.max(span.start, doc.span.end) : span.start;
  const whole = text.slice(start, declaration.span.end).trim();
  const isUnit = declaration.kind === "Graph" || declaration.kind === "Plan";
  const shown = isUnit ? (whole.split("\n", 1)[0] ?? "").replace(/\{\s*$/, "").trim() : whole;
  return shown.length <= LONGEST ? shown : `${shown.slice(0, LONGEST)}…`;
}

function facts(
  use: NameUse,
  owner: FileNames | undefined,
  { checked: { result }, file, index }: Asked,
): readonly string[] {
  const [path = "", unit = "", , name = ""] = use.target.split("\n");
  const bound = boundUnit(fileTarget(path, unit), file, result, index);
  const graph = result.graphs.find((each) => each.bound === bound);
  switch (use.kind) {
    case "channel":
      return bound === undefined ? [] : ofChannel(bound, name, owner === undefined ? [] : readersIn(owner, use.target));
    case "derived": {
      const types = [...(graph?.bound.derivedTypes?.() ?? [])];
      const type = types.find(([declaration]) => declaration.name.name === name)?.[1];
      return [
        type === undefined ? "" : `Type: \`${typeToText(type)}\``,
        readBy(owner === undefined ? [] : readersIn(owner, use.target, true)),
      ];
    }
    case "node":
      return graph === undefined ? [] : ofNode(graph, name);
    case "task":
      return bound === undefined || "nodes" in bound ? [] : ofTask(bound, name);
    case "graph":
    case "plan":
      return bound === undefined ? [] : ofUnit(bound.channels, graph?.verdict?.text);
    case "variable":
      return ofVariable(use, result);
    default:
      return [];
  }
}

/** A graph or plan of the file, or of another one from which it calls it. */
export function boundUnit(
  target: string,
  file: FileNames,
  result: CheckedDocument["result"],
  index: NameIndex,
): BoundGraph | BoundPlan | undefined {
  const [path = "", name = ""] = target.split("\n");
  const own = [...result.graphs, ...result.plans];
  if (index.realPath(file.path) === path) return own.find((each) => each.name === name)?.bound;
  const called = own.flatMap(({ bound }) => [...bound.graphs, ...(bound.plans ?? [])]);
  return called.find((each) => each.name === name && index.realPath(each.file.path) === path);
}

function ofChannel(bound: BoundGraph | BoundPlan, name: string, others: readonly string[]): readonly string[] {
  const channel = bound.channels.find((each) => each.name === name);
  if (channel === undefined) return [];
  const steps: readonly Pick<BoundNode | BoundTask, "name" | "reads" | "writes">[] =
    "nodes" in bound ? bound.nodes : bound.tasks;
  const namesOf = (of: typeof steps): string[] => of.map((each) => `\`${each.name}\``);
  const writers = namesOf(steps.filter(({ writes }) => writes.includes(name)));
  const readers = namesOf(steps.filter(({ reads }) => reads.includes(name)));
  const written = writers.length === 0 ? "" : `Written by ${[...new Set(writers)].join(", ")}.`;
  return [`Type: \`${typeToText(channel.type)}\``, [written, readBy([...readers, ...others])].join(" ").trim()];
}

function readBy(readers: readonly string[]): string {
  return readers.length === 0 ? "" : `Read by ${[...new Set(readers)].join(", ")}.`;
}

function ofNode(graph: CompiledGraph, name: string): readonly string[] {
  const node = graph.bound.nodes.find((each) => each.name === name);
  if (node === undefined) return [];
  const { start, end } = node.declaration.name.span;
  const proven = graph.proofs
    .filter(({ span, message }) => (span.start <= start && end <= span.end) || message.includes(`\`${name}\``))
    .map(({ code: id, message }) => `- ${message} (${id})`);
  return [...ofStep(node), proven.length === 0 ? "" : `Proven:\n${[...new Set(proven)].slice(0, 8).join("\n")}`];
}

function ofTask(plan: BoundPlan, name: string): readonly string[] {
  const tasks = plan.tasks.filter((each) => each.declaration.name.name === name);
  const [task] = tasks;
  if (task === undefined) return [];
  const after = [...new Set(task.after.map((at) => `\`${plan.tasks[at]?.declaration.name.name ?? ""}\``))];
  return [
    ...ofStep(task),
    after.length === 0 ? "" : `After ${after.join(", ")}.`,
    tasks.length === 1 ? "" : `${tasks.length} tasks.`,
  ];
}

function ofStep({ reads, writes, effects }: Pick<BoundNode, "reads" | "writes" | "effects">): readonly string[] {
  const list = (names: readonly string[]): string => names.map((each) => `\`${each}\``).join(", ");
  const lines = [
    reads.length === 0 ? "" : `Reads ${list(reads)}.`,
    writes.length === 0 ? "" : `Writes ${list(writes)}.`,
    effects.length === 0 ? "" : `Effects: ${effects.join(", ")}.`,
  ].filter((line) => line !== "");
  return [lines.join(" ")];
}

function ofUnit(channels: readonly BoundChannel[], verdict: string | undefined): readonly string[] {
  const list = (role: string): string =>
    channels.flatMap((each) => (each.role === role ? [`\`${each.name}: ${typeToText(each.type)}\``] : [])).join(", ");
  const [inputs, outputs] = [list("input"), list("output")];
  return [
    inputs === "" ? "" : `Inputs: ${inputs}`,
    outputs === "" ? "" : `Outputs: ${outputs}`,
    verdict === undefined ? "" : `${capitalised(verdict)}.`,
  ];
}

/** A variable of a node's `for`, with its type. */
function ofVariable({ name, target }: NameUse, result: CheckedDocument["result"]): readonly string[] {
  const at = Number(target.slice(target.lastIndexOf("@") + 1));
  for (const { bound } of result.graphs) {
    const indexed = bound.nodes.find(({ declaration }) => declaration.each?.index?.span.start === at);
    if (indexed !== undefined) return [code(`${name}: int`), `The index of an item of \`${indexed.name}\`.`];
    const node = bound.nodes.find(({ declaration }) => declaration.each?.item.span.start === at);
    if (node?.each?.list.type.kind === "list")
      return [code(`${name}: ${typeToText(node.each.list.type.item)}`), `An item of \`${node.name}\`.`];
  }
  return [code(name), "A variable of `for`."];
}

/** The comment above a declaration of a TypeScript module. */
function docOf(text: string, at: number): string {
  const before = text.slice(0, text.lastIndexOf("\n", at) + 1).trimEnd();
  if (!before.endsWith("*/")) return "";
  const open = before.lastIndexOf("/**");
  return open === -1
    ? ""
    : before
        .slice(open + 3, -2)
        .replaceAll(/^\s*\* ?/gm, "")
        .trim();
}

function code(text: string, language = "ngraph"): string {
  const fence = text.includes("```") ? "````" : "```";
  return `${fence}${language}\n${text}\n${fence}`;
}

function capitalised(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
